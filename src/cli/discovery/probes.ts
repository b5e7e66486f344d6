import { operations } from '../../protocol/operations.js';
import { type InvalidCase, invalidCreations } from '../../protocol/service-profile.js';
import { exchange } from '../network.js';
import { DeadlineSignal } from './deadline-signal.js';

/** A service, and the payments to create there. */
export interface Target {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The fields of every creation except the reference. */
  readonly creation: Readonly<Record<string, unknown>>;
  /** The prefix of every reference. */
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An answer to a probe. */
export interface ReceivedAnswer {
  readonly status: number;
  /** The media type, in lower case. */
  readonly contentType: string | undefined;
  /** Parsed if it is JSON, otherwise text. */
  readonly body: unknown;
  readonly isJson: boolean;
  /** The fields that were sent. */
  readonly sent: Readonly<Record<string, unknown>>;
}

/** A probe got no meaningful answer; the message is the reason. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
}

const MAX_ANSWER_BYTES = 65_536;

// Any other value may be data.
const MEDIA_TYPE = /^(?:application|text)\/[\w.+-]{1,64}(?=[\s;]|$)/;

/** Sends a creation that should succeed. */
export const sendCreation = (target: Target): Promise<ReceivedAnswer> =>
  send(target, { sent: fieldsOf(target, 'valid'), authorization: basic(target) });

/** Sends a request that should be refused. */
export function sendInvalid(target: Target, which: InvalidCase): Promise<ReceivedAnswer> {
  const valid = fieldsOf(target, which);
  if (which === 'missingCredentials')
    return send(target, { sent: valid, authorization: undefined });
  if (which === 'invalidCredentials') {
    const authorization = basic({ apiKey: 'invalid', apiSecret: crypto.randomUUID() });
    return send(target, { sent: valid, authorization });
  }
  const sent = { ...valid, ...invalidCreations[which] };
  return send(target, { sent, authorization: basic(target) });
}

const fieldsOf = ({ creation, prefix }: Target, which: string): Record<string, unknown> => ({
  ...creation,
  merchantPaymentReference: `${prefix}-${which}`,
});

const basic = ({ apiKey, apiSecret }: Pick<Target, 'apiKey' | 'apiSecret'>): string =>
  `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;

interface Probe {
  readonly sent: Record<string, unknown>;
  readonly authorization: string | undefined;
}

/** Statuses that say nothing about the request: the service was busy or not reached. */
const TRANSIENT = [429, 502, 503, 504];

/** @throws {ProbeFailure} when the answer is incomplete, or says nothing about the request */
async function send(
  { baseUrl, timeoutMs, signal }: Target,
  { sent, authorization }: Probe,
): Promise<ReceivedAnswer> {
  const { method, path } = operations['payments.create'];
  using deadline = new DeadlineSignal(signal, timeoutMs);
  const received = await exchange(new URL(`${baseUrl}${path}`), {
    method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      ...(authorization !== undefined && { authorization }),
    },
    body: Buffer.from(JSON.stringify(sent)),
    signal: deadline.signal,
    maxBytes: MAX_ANSWER_BYTES + 1,
  }).catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw new ProbeFailure('the run was interrupted');
    throw new ProbeFailure(
      deadline.isOver
        ? `no answer within ${timeoutMs} ms`
        : `the connection failed with ${error.code ?? error.name}`,
    );
  });
  const { status, headers, body } = received;
  if (TRANSIENT.includes(status)) throw new ProbeFailure(`the service answered ${status}`);
  if (body.byteLength > MAX_ANSWER_BYTES) {
    throw new ProbeFailure(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
  }
  const [contentType] = MEDIA_TYPE.exec(headers['content-type']?.toLowerCase() ?? '') ?? [];
  return { status, contentType, sent, ...parseBody(body.toString(), contentType) };
}

function parseBody(
  text: string,
  contentType: string | undefined,
): Pick<ReceivedAnswer, 'body' | 'isJson'> {
  if (!/[/+]json$/.test(contentType ?? '')) return { body: text, isJson: false };
  try {
    return { body: JSON.parse(text), isJson: true };
  } catch {
    return { body: text, isJson: false };
  }
}
