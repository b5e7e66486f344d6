import type { Writable } from 'node:stream';
import { MockServerError } from '../../errors.js';
import { operations } from '../../protocol/operations.js';

/** The longest request body that is read: 1 MiB. */
export const MAX_BODY_BYTES = 1_048_576;

/** A request received over a connection or passed to `fetch`. */
export interface PlainRequest {
  readonly method: string;
  /** Percent-encoded, as in a URL. */
  readonly pathname: string;
  /** Includes the question mark; empty without a query. */
  readonly search: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** `undefined` over 1 MiB. Counts the bytes: Content-Length may be wrong or missing. */
  readBody(): Promise<Uint8Array | undefined>;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Writes the body piece by piece in place of `body`, and ends it. */
  readonly follow?: ((reader: Writable) => void) | undefined;
  /** How the connection breaks after the body. */
  readonly loss?: ConnectionLoss | undefined;
}

/**
 * A broken connection, as `fetch` shows it: the promise rejects with it, or the answer's body ends in it.
 * The HTTP server breaks the real connection.
 */
export class ConnectionLoss extends MockServerError {
  /** `reset`: by a TCP reset. `end`: closed in order, but too early. */
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end', message: string) {
    super('CONNECTION_LOST', message);
    this.how = how;
  }
}

export const toBytes = (body: string | Uint8Array): Buffer =>
  typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);

export function fromRequest(request: Request): PlainRequest {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  return {
    method,
    pathname,
    search,
    headers: new Map(headers),
    signal,
    readBody: () => readStream(request.body),
  };
}

async function readStream(
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

export function toResponse(answer: PlainAnswer): Response {
  const { status, headers, body, loss } = answer;
  if (loss !== undefined) return new Response(breakOff(toBytes(body), loss), { status, headers });
  // For a string, Response adds text/plain; with some statuses it refuses even an empty body.
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  // The dashboard's DOM types refuse shared memory, which no answer is in.
  return new Response(body === '' ? null : (content as Buffer<ArrayBuffer>), { status, headers });
}

function breakOff(bytes: Uint8Array, loss: ConnectionLoss): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    // One chunk per pull: an error raised before the first chunk is read would replace it.
    pull(controller) {
      if (isSent) controller.error(loss);
      else controller.enqueue(bytes);
      isSent = true;
    },
  });
}

export function isJsonType(contentType: string | null | undefined): boolean {
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

/** The part of the path at `:id`, empty for a pattern without one; `undefined` when the path does not match. */
export function matchPath(pattern: string, path: string): string | undefined {
  if (!pattern.includes(':id')) return path === pattern ? '' : undefined;
  const [before = '', after = ''] = pattern.split(':id');
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const segment = path.slice(before.length, path.length - after.length);
  if (segment.includes('/')) return undefined;
  try {
    return decodeURIComponent(segment) || undefined;
  } catch {
    return undefined;
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers, 'content-length': length },
    body: text,
  };
}

export function textAnswer(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): PlainAnswer {
  const length = String(Buffer.byteLength(text));
  return { status, headers: { ...headers, 'content-length': length }, body: text };
}

/** With the error body of interface section 2.3. */
export function errorAnswer(requestId: string, error: ErrorAnswer): PlainAnswer {
  const { status, code, message, headers } = error;
  return jsonAnswer(status, { code, message, requestId }, headers);
}

// The one error that the interface shows (section 7).
export const INVALID_CREDENTIALS: ErrorAnswer = {
  status: 401,
  code: 'INVALID_CREDENTIALS',
  message: 'Invalid credentials.',
  headers: { 'www-authenticate': 'Basic realm="merchant-payments mock"' },
};

// The others are the mock's own choice: the interface shows none of them.
export const NOT_FOUND: ErrorAnswer = {
  status: 404,
  code: 'NOT_FOUND',
  message: `There is nothing at this path; the operations are ${Object.values(operations)
    .map(({ method, path }) => `${method} ${path}`)
    .join(', ')}.`,
};
export const UNSUPPORTED_MEDIA_TYPE: ErrorAnswer = {
  status: 415,
  code: 'UNSUPPORTED_MEDIA_TYPE',
  message: 'The content-type must be application/json.',
};
export const PAYLOAD_TOO_LARGE: ErrorAnswer = {
  status: 413,
  code: 'PAYLOAD_TOO_LARGE',
  message: 'The body is over 1 MiB.',
};

export function invalidRequest(message: string): ErrorAnswer {
  return { status: 400, code: 'INVALID_REQUEST', message };
}

export function methodNotAllowed(allowed: readonly string[]): ErrorAnswer {
  return {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    message: `The method must be ${allowed.join(' or ')} at this path.`,
    headers: { allow: allowed.join(', ') },
  };
}
