import { PAYMENTS_PATH } from '../../protocol/wire.js';

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
  message: `There is nothing at this path; payments are created at ${PAYMENTS_PATH}.`,
};
export const METHOD_NOT_ALLOWED: ErrorAnswer = {
  status: 405,
  code: 'METHOD_NOT_ALLOWED',
  message: 'Payments are created with POST.',
  headers: { allow: 'POST' },
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
