import { isUtf8 } from 'node:buffer';
import { InvalidOptionError, MockServerError } from '../../errors.js';
import {
  isJsonType,
  jsonAnswer,
  matchPath,
  type PlainAnswer,
  type PlainRequest,
  parseJson,
} from '../api/http-messages.js';
import type { ControlError } from './control-types.js';

/** A call of the control interface. */
export interface ControlCall {
  /** The fields of the body; `{}` without one. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

type Handler = (call: ControlCall, id: string) => PlainAnswer | Promise<PlainAnswer>;

/** `:id` in the path stands for an identifier. */
export type Route = readonly [method: string, path: string, handle: Handler];

/**
 * Sent with every answer: other origins and caches get nothing, JSON is never shown as a page, and the command line
 * knows the mock by the last.
 */
export const GUARD_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-merchant-payments': 'mock',
};

const statuses = {
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNAVAILABLE: 503,
} as const;

interface FailureDetails {
  readonly headers?: Readonly<Record<string, string>>;
  /** The option or field that is invalid. */
  readonly option?: string;
}

/** Thrown to answer a call with an error. */
export class ControlFailure extends Error {
  override readonly name = 'ControlFailure';
  readonly code: keyof typeof statuses;
  readonly details: FailureDetails;

  constructor(code: keyof typeof statuses, message: string, details: FailureDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function controlAnswer(status: number, body: unknown): PlainAnswer {
  return jsonAnswer(status, body, GUARD_HEADERS);
}

export function failureAnswer({ code, message, details }: ControlFailure): PlainAnswer {
  const { headers, option } = details;
  const body: ControlError = { code, message, option };
  return jsonAnswer(statuses[code], body, { ...GUARD_HEADERS, ...headers });
}

/** Never rejects: what is thrown is answered. */
export async function answerFailures(answer: () => Promise<PlainAnswer>): Promise<PlainAnswer> {
  try {
    return await answer();
  } catch (error) {
    return failureAnswer(toFailure(error));
  }
}

export function notFound(what: string, id: string): ControlFailure {
  const shown = id.length <= 100 ? `"${id}"` : `of ${id.length} characters`;
  return new ControlFailure('NOT_FOUND', `There is no ${what} ${shown}`);
}

function toFailure(error: unknown): ControlFailure {
  if (error instanceof ControlFailure) return error;
  if (error instanceof InvalidOptionError) {
    return new ControlFailure('INVALID_REQUEST', error.message, { option: error.option });
  }
  if (error instanceof MockServerError && error.code === 'CLOCK_BUSY') {
    return new ControlFailure('CONFLICT', error.message);
  }
  // The only other failure: the service was closed meanwhile.
  const message = error instanceof Error ? error.message : String(error);
  return new ControlFailure('UNAVAILABLE', message);
}

/** @throws {ControlFailure} when the body is too large or not a JSON object */
async function readFields(request: PlainRequest): Promise<Record<string, unknown>> {
  // A page of another site can't send this type without a preflight, which is refused.
  if (!isJsonType(request.headers.get('content-type'))) {
    throw new ControlFailure(
      'UNSUPPORTED_MEDIA_TYPE',
      'The content-type must be application/json, even without a body',
    );
  }
  const body = await request.readBody();
  if (body === undefined) {
    throw new ControlFailure('PAYLOAD_TOO_LARGE', 'The body must be at most 1 MiB');
  }
  if (body.byteLength === 0) return {};
  const value = isUtf8(body) ? parseJson(Buffer.from(body).toString()) : undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new ControlFailure('INVALID_REQUEST', 'The body must be a JSON object in UTF-8');
}

/**
 * Answers a call by the matching route.
 *
 * @throws {ControlFailure} 404 for an unknown path, 405 for another method
 */
export async function answerCall(
  routes: readonly Route[],
  request: PlainRequest,
): Promise<PlainAnswer> {
  const { method, pathname, signal } = request;
  const body = method === 'POST' || method === 'PATCH' ? await readFields(request) : {};
  const call: ControlCall = { body, signal };
  const allowed: string[] = [];
  for (const [routeMethod, pattern, handle] of routes) {
    const id = matchPath(pattern, pathname.slice('/_mock'.length));
    if (id === undefined) continue;
    if (routeMethod === method) return handle(call, id);
    allowed.push(routeMethod);
  }
  if (allowed.length === 0) {
    const message = 'The control interface has nothing at this path';
    throw new ControlFailure('NOT_FOUND', message);
  }
  throw new ControlFailure(
    'METHOD_NOT_ALLOWED',
    `The method must be ${allowed.join(' or ')} at this path`,
    { headers: { allow: allowed.join(', ') } },
  );
}
