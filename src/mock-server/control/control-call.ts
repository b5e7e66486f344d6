import { isUtf8 } from 'node:buffer';
import { readRequestBody } from '../api/request-body.js';
import { ControlFailure, failures } from './control-answers.js';

/** A call of the control interface, taken apart. */
export interface ControlCall {
  readonly method: string;
  /** The path below `/_mock`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The fields of the body; `{}` without one. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

const MAX_BODY_BYTES = 1_048_576;
const BASE_PATH = '/_mock';

/** @throws {ControlFailure} when the body is not what the interface takes */
export async function readControlCall(request: Request): Promise<ControlCall> {
  const { pathname, searchParams } = new URL(request.url);
  const { method, signal } = request;
  return {
    method,
    path: pathname.slice(BASE_PATH.length),
    query: searchParams,
    body: method === 'POST' || method === 'PATCH' ? await readFields(request) : {},
    signal,
  };
}

async function readFields(request: Request): Promise<Record<string, unknown>> {
  // Beyond saying what it is, this type is one that a page of another site can't send unasked.
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new ControlFailure(
      failures.unsupportedMediaType,
      'The content-type must be application/json, also when there is no body',
    );
  }
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  if (body.tooLarge) {
    throw new ControlFailure(failures.payloadTooLarge, 'The body must be at most 1 MiB');
  }
  if (body.bytes.byteLength === 0) return {};
  const value = isUtf8(body.bytes) ? parseJson(Buffer.from(body.bytes).toString()) : undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new ControlFailure(failures.invalidRequest, 'The body must be a JSON object in UTF-8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads `limit`.
 *
 * @throws {ControlFailure} when it is no whole number from 1 to 1000
 */
export function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '100';
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 1000) return limit;
  throw new ControlFailure(
    failures.invalidRequest,
    'limit must be a whole number from 1 to 1000, but another value came',
  );
}

/** @throws {ControlFailure} for a field that the call does not take */
export function assertOnly(
  body: Readonly<Record<string, unknown>>,
  ...fields: readonly string[]
): void {
  const stray = Object.keys(body).find((field) => !fields.includes(field));
  if (stray === undefined) return;
  const known = fields.length === 0 ? 'no field' : fields.join(', ');
  throw new ControlFailure(
    failures.invalidRequest,
    `The body must have ${known} and nothing else, but "${stray}" came`,
  );
}
