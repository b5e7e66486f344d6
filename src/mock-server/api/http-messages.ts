import { operations } from '../../protocol/operations.js';

/** The longest body of a request that is read, in bytes: 1 MiB. */
const MAX_BODY_BYTES = 1_048_576;

/** The body of a request; `undefined` over 1 MiB. Counts as bytes arrive: a Content-Length may be wrong or missing. */
export async function readRequestBody(request: Request): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
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

export function isJsonType(contentType: string | null | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** `undefined` for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What stands for `:id` in the pattern, empty without one; `undefined` when the path is another. */
export function matchPath(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(':id');
  if (after === undefined) return path === pattern ? '' : undefined;
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
): Response {
  return textAnswer(status, JSON.stringify(body), {
    'content-type': 'application/json',
    ...headers,
  });
}

export function textAnswer(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const bytes = Buffer.from(text);
  return new Response(bytes, {
    status,
    headers: { ...headers, 'content-length': String(bytes.byteLength) },
  });
}

/** An error with the body of interface section 2.3. */
export function errorAnswer(
  requestId: string,
  { status, code, message, headers }: ErrorAnswer,
): Response {
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
