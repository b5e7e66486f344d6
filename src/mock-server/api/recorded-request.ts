import type { RequestFault } from '../faults/fault.js';

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
  /** Whether it carried the account's credentials. */
  readonly authenticated: boolean;
  /** The fault applied. */
  readonly fault?: RequestFault['type'] | undefined;
  /** The status of the answer; `undefined` until it is answered, or when the answer was lost. */
  readonly status?: number | undefined;
  /** Whether it was answered, or its connection broke. */
  readonly ended: boolean;
}

/** Which request to wait for. Every given field must be equal. */
export interface RequestMatch {
  /** The `merchantPaymentReference` in the body. */
  merchantPaymentReference?: string | undefined;
  /** The method, in capital letters. */
  method?: string | undefined;
  /** The path, without the query. */
  path?: string | undefined;
}

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
]);
const REDACTED = '[redacted]';

export function redactHeaders(
  headers: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  if (isLast(headers)) return last;
  const redacted = new Map(headers);
  for (const name of SECRET_HEADERS) if (headers.has(name)) redacted.set(name, REDACTED);
  last = Object.freeze(Object.fromEntries(redacted));
  return last;
}

// Clients repeat their headers, so 10,000 requests need not keep 10,000 copies.
let last: Readonly<Record<string, string>> = Object.freeze({});

function isLast(headers: ReadonlyMap<string, string>): boolean {
  const names = Object.keys(last);
  return (
    names.length === headers.size &&
    names.every((name) =>
      SECRET_HEADERS.has(name) ? headers.has(name) : headers.get(name) === last[name],
    )
  );
}

export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

/** What waits and faults match. */
export function toRequestFacts({ method, path, json }: RecordedRequest) {
  const reference =
    typeof json === 'object' && json !== null && 'merchantPaymentReference' in json
      ? json.merchantPaymentReference
      : undefined;
  return {
    method,
    path: withoutQuery(path),
    merchantPaymentReference: typeof reference === 'string' ? reference : undefined,
  };
}

/** Roughly the memory it takes: its texts, and three times the body when it is parsed. */
export function sizeOfRequest({ path, headers, body, json }: RecordedRequest): number {
  let size = path.length + body.length * (json === undefined ? 1 : 4);
  for (const name of Object.keys(headers)) size += name.length + (headers[name]?.length ?? 0);
  return size;
}

/** One line of a log. */
export function describeRequest({ method, path, status, fault }: RecordedRequest): string {
  const result = status === undefined ? 'no answer' : `HTTP ${status}`;
  return `${method} ${path}, ${result}${fault === undefined ? '' : `, fault ${fault}`}`;
}
