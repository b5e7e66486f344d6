import type { Writable } from 'node:stream';

/** The longest request body that is read: 1 MiB. */
export const MAX_BODY_BYTES = 1_048_576;

/** A request received over a connection or passed to `fetch`. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query, percent-encoded as in a URL. */
  readonly target: string;
  readonly path: string;
  /** Names in lower case; the values of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** `undefined` over 1 MiB. Counts the bytes: Content-Length may be wrong or missing. */
  readBody(): Promise<Uint8Array | undefined>;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Writes the body piece by piece in place of `body`, and ends it. */
  readonly follow?: ((reader: Writable) => void) | undefined;
  readonly loss?: ConnectionLoss | undefined;
}

/**
 * A broken connection, as `fetch` shows it: the promise rejects with it, or the answer's body ends in it.
 * The HTTP server breaks the real connection.
 */
export class ConnectionLoss extends TypeError {
  /** `reset`: by a TCP reset. `end`: closed in order, but too early. */
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end', message: string) {
    super(message);
    this.how = how;
  }
}

export const withoutQuery = (target: string): string => target.split('?', 1)[0] as string;

export function fromRequest({ method, url, headers, signal, body }: Request): PlainRequest {
  const { pathname, search } = new URL(url);
  return {
    method,
    target: pathname + search,
    path: pathname,
    headers: Object.fromEntries(headers),
    signal,
    readBody: () => readStream(body),
  };
}

async function readStream(
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

export function toResponse({ status, headers, body, loss }: PlainAnswer): Response {
  // As bytes, since Response adds text/plain to a string; with some statuses it refuses even an empty body.
  const bytes = body === '' ? null : new TextEncoder().encode(body);
  if (loss === undefined) return new Response(bytes, { status, headers });
  // Response takes anything iterable, although its type does not say so.
  return new Response(breakOff(bytes, loss) as unknown as null, { status, headers });
}

async function* breakOff(bytes: Uint8Array | null, loss: ConnectionLoss) {
  if (bytes !== null) yield bytes;
  throw loss;
}

export function isJsonType(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

const MAX_DEPTH = 500;

/** `undefined` when the text is not JSON, or is nested so deeply that writing it again might exhaust the stack. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, MAX_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)));

export function textAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): PlainAnswer {
  // Not by spreading, with which V8 would keep a shape of its own for each answer.
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return { status, headers: Object.assign({}, headers, length), body };
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  const all = Object.assign({ 'content-type': 'application/json' }, headers);
  return textAnswer(status, JSON.stringify(body), all);
}

/** With the error body of interface section 2.3. */
export function errorAnswer(
  requestId: string,
  status: number,
  { code, message, headers }: { code: string; message: string; headers?: PlainAnswer['headers'] },
): PlainAnswer {
  return jsonAnswer(status, { code, message, requestId }, headers);
}

/** The one error that the interface shows (section 7). */
export const unauthorized = (requestId: string): PlainAnswer =>
  errorAnswer(requestId, 401, {
    code: 'INVALID_CREDENTIALS',
    message: 'Invalid credentials.',
    headers: { 'www-authenticate': 'Basic realm="merchant-payments mock"' },
  });
