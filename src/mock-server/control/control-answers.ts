import { jsonAnswer } from '../api/answers.js';
import type { ControlError } from './control-types.js';

/** For every answer: other origins and caches get nothing, and JSON is never taken for a page. */
export const GUARD_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Ends a call with an error of the control interface. */
export class ControlFailure extends Error {
  override readonly name = 'ControlFailure';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    { status, code }: (typeof failures)[keyof typeof failures],
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const failures = {
  invalidRequest: { status: 400, code: 'INVALID_REQUEST' },
  forbidden: { status: 403, code: 'FORBIDDEN' },
  notFound: { status: 404, code: 'NOT_FOUND' },
  methodNotAllowed: { status: 405, code: 'METHOD_NOT_ALLOWED' },
  conflict: { status: 409, code: 'CONFLICT' },
  payloadTooLarge: { status: 413, code: 'PAYLOAD_TOO_LARGE' },
  unsupportedMediaType: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  unavailable: { status: 503, code: 'UNAVAILABLE' },
} as const;

export function controlAnswer(status: number, body: unknown): Response {
  return jsonAnswer(status, body, GUARD_HEADERS);
}

export function failureAnswer({ status, code, message, headers }: ControlFailure): Response {
  const body: ControlError = { code, message };
  return jsonAnswer(status, body, { ...GUARD_HEADERS, ...headers });
}
