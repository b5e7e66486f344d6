import { isUtf8 } from 'node:buffer';
import { InvalidOptionError } from '../../errors.js';
import { isObject } from '../../protocol/own-fields.js';
import {
  isJsonType,
  jsonAnswer,
  type PlainAnswer,
  type PlainRequest,
  parseJson,
} from '../api/http-messages.js';
import type { ControlError } from './control-types.js';

/** The fields of a body; `{}` without one. */
export type Fields = Readonly<Record<string, unknown>>;

type Handler = (body: Fields, id: string) => PlainAnswer | Promise<PlainAnswer>;

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

export class ControlFailure extends Error {
  override readonly name = 'ControlFailure';
  readonly code: keyof typeof statuses;
  /** With the option or field that is invalid. */
  readonly details: { headers?: Readonly<Record<string, string>>; option?: string };

  constructor(
    code: ControlFailure['code'],
    message: string,
    details: ControlFailure['details'] = {},
  ) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function controlAnswer(body: unknown, status = 200): PlainAnswer {
  return jsonAnswer(status, body, GUARD_HEADERS);
}

export function failureAnswer({ code, message, details }: ControlFailure): PlainAnswer {
  const body: ControlError = { code, message, option: details.option };
  return jsonAnswer(statuses[code], body, { ...GUARD_HEADERS, ...details.headers });
}

export function notFound(what: string, id: string): ControlFailure {
  return new ControlFailure('NOT_FOUND', `There is no ${what} "${id}"`);
}

export function toFailure(error: unknown): ControlFailure {
  if (error instanceof ControlFailure) return error;
  const { message } = error as Error;
  if (error instanceof InvalidOptionError) {
    return new ControlFailure('INVALID_REQUEST', message, { option: error.option });
  }
  // The only other failure: the service was closed meanwhile.
  return new ControlFailure('UNAVAILABLE', message);
}

async function readFields(request: PlainRequest): Promise<Fields> {
  // A page of another site can't send this type without a preflight, which is refused.
  if (!isJsonType(request.headers['content-type'])) {
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
  if (isObject(value)) return value as Fields;
  throw new ControlFailure('INVALID_REQUEST', 'The body must be a JSON object in UTF-8');
}

/** The part of the path at `:id`, empty for a pattern without one; `undefined` when the path does not match. */
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

export async function answerCall(
  routes: readonly Route[],
  request: PlainRequest,
): Promise<PlainAnswer> {
  const { method, path } = request;
  const body = method === 'POST' || method === 'PATCH' ? await readFields(request) : {};
  const allowed: string[] = [];
  for (const [routeMethod, pattern, handle] of routes) {
    const id = matchPath(pattern, path.slice('/_mock'.length));
    if (id === undefined) continue;
    if (routeMethod === method) return handle(body, id);
    allowed.push(routeMethod);
  }
  if (allowed.length === 0) {
    throw new ControlFailure('NOT_FOUND', 'The control interface has nothing at this path');
  }
  const message = `The method must be ${allowed.join(' or ')} at this path`;
  const headers = { allow: allowed.join(', ') };
  throw new ControlFailure('METHOD_NOT_ALLOWED', message, { headers });
}
