import {
  matchFields,
  type RequestFault,
  type RequestFaultMatch,
} from '../faults/fault-catalogue.js';
import type { EntryKind } from '../state/cap.js';
import { type PlainAnswer, withoutQuery } from './http-messages.js';

/** A request as the service received it, without credentials. */
export interface RecordedRequest {
  /** Identifier of the request; the `requestId` of an error body (interface section 2.3). */
  readonly requestId: string;
  /** When it arrived in full, on the service's clock. */
  readonly at: Date;
  /** For example `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. Credentials and cookies read `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text; empty when it was over the limit. */
  readonly body: string;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly json: unknown;
  /** The merchantPaymentReference in the body, if it is text. */
  readonly merchantPaymentReference?: string | undefined;
  /** The referenceNumber of the payment that it created. */
  readonly referenceNumber?: string | undefined;
  /** Whether it carried the account's credentials. */
  readonly authenticated: boolean;
  /** The fault applied. */
  readonly fault?: RequestFault['type'] | undefined;
  /** The status of the answer; `undefined` until it is answered, or when the answer was lost. */
  readonly status?: number | undefined;
  /** Whether it was answered, or its connection broke. */
  readonly ended: boolean;
  /** What the service answered, or would have. `undefined` until then, and when a fault allowed no answer. */
  readonly answer?: RecordedAnswer | undefined;
}

/** The service's answer to a request. */
export interface RecordedAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent: its first 4,096 bytes. */
  readonly body: string;
  /** Whether more followed, or would have: the body is longer, or a fault broke it off. */
  readonly cut?: boolean | undefined;
  /** Whether it was not sent: a fault lost it, or the caller had left. */
  readonly withheld?: boolean | undefined;
}

/** A request while it is answered. */
export type LiveRequest = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

/** Which request to wait for. Every given field must be equal. */
export interface RequestMatch extends RequestFaultMatch {
  /** The payment that it created. Known once the request has been handled. */
  referenceNumber?: string | undefined;
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

export function redactHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const redacted = { ...headers };
  for (const name of SECRET_HEADERS) if (name in redacted) redacted[name] = '[redacted]';
  return redacted;
}

export function referenceIn(json: unknown): string | undefined {
  const { merchantPaymentReference: reference } = Object(json) as Readonly<Record<string, unknown>>;
  return typeof reference === 'string' ? reference : undefined;
}

const MAX_ANSWER_BYTES = 4096;

export function recordAnswer(answer: PlainAnswer, withheld: boolean): RecordedAnswer {
  const { status, headers, body, loss } = answer;
  const isLong = Buffer.byteLength(body) > MAX_ANSWER_BYTES;
  return {
    status,
    headers,
    body: isLong ? Buffer.from(body).toString('utf8', 0, MAX_ANSWER_BYTES) : body,
    ...((isLong || loss !== undefined) && { cut: true }),
    ...(withheld && { withheld }),
  };
}

export const requestEntries = {
  name: 'request',
  plural: 'requests',
  toFacts({ method, path, merchantPaymentReference, referenceNumber }: RecordedRequest) {
    return { method, path: withoutQuery(path), merchantPaymentReference, referenceNumber };
  },
  fields: { ...matchFields.request, referenceNumber: 'text' },
  describe({ method, path, status, fault }: RecordedRequest) {
    const result = status === undefined ? 'no answer' : `HTTP ${status}`;
    return `${method} ${path}, ${result}${fault === undefined ? '' : `, fault ${fault}`}`;
  },
} satisfies EntryKind<RecordedRequest>;
