import { InvalidOptionError, InvalidRequestError, type Issue } from '../errors.js';
import { readCreation } from '../protocol/creation.js';
import { describeMismatch } from '../protocol/describe-value.js';
import { findHidden, type NotJson, writeJson } from '../protocol/json.js';
import { type OperationName, operations } from '../protocol/operations.js';
import { invalidOption } from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import type { Credentials } from './credentials.js';
import type { ResolvedClientOptions, ResolvedRequestOptions } from './options.js';
import { toIdempotencyKey } from './request-headers.js';
import type { PreparedRequest } from './transport/transport.js';

/** A request for an operation that this SDK does not know. */
export interface ServiceRequest {
  /** GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS. */
  method: string;
  /** Path below the base URL, beginning with a slash, percent-encoded; may have a query. */
  path: string;
  /** Sent as JSON. Not with GET or HEAD. */
  body?: unknown;
}

/** A call whose input and options are valid: its request, but for the credentials and headers. */
export interface Call extends Pick<PreparedRequest, 'method' | 'path' | 'safe'> {
  readonly operation: OperationName | 'request';
  /** Path and query below the service's origin. */
  readonly target: string;
  readonly body: string | undefined;
  readonly client: ResolvedClientOptions;
  readonly options: ResolvedRequestOptions | undefined;
  /** Of `payments.create`. */
  readonly merchantPaymentReference: string | undefined;
  /** Whether the service has promised to recognise a repetition: it may be sent again whatever has become of it. */
  readonly mayRepeat: boolean;
}

/**
 * A call that creates a payment (interface section 4.1).
 *
 * @throws {InvalidRequestError} naming every field that is invalid
 */
export function prepareCreation(
  given: CreatePaymentInput,
  options: ResolvedRequestOptions | undefined,
  client: ResolvedClientOptions,
): Call {
  const { inputFields, method, path, safe } = operations['payments.create'];
  const { issues = [], input } = readCreation(given);
  const found = [
    ...issues,
    ...findUnknownFields(given, inputFields, NOT_OF_CREATION),
    ...findExtraIssues(options?.extraBody, inputFields),
  ];
  if (input === undefined || found.length > 0) throw new InvalidRequestError(found);
  const target = client.baseUrl.pathPrefix + path;
  return {
    operation: 'payments.create',
    method,
    path: target,
    safe,
    target,
    body:
      options?.extraBody === undefined
        ? JSON.stringify(input)
        : writeBody({ ...(options.extraBody as object), ...input }, 'extraBody'),
    client,
    options,
    merchantPaymentReference: input.merchantPaymentReference,
    mayRepeat: client.idempotency !== undefined,
  };
}

/**
 * A call of any operation.
 *
 * @throws {InvalidRequestError} for a method, path or body that is invalid
 * @throws {InvalidOptionError} for what is no request, and for an `extraBody`
 */
export function prepareRequest(
  request: unknown,
  options: ResolvedRequestOptions | undefined,
  client: ResolvedClientOptions,
): Call {
  if (!isObject(request)) {
    throw invalidOption('request', 'an object with method and path', request);
  }
  if (options?.extraBody !== undefined) {
    const remedy = 'put the fields into the body of the request';
    throw new InvalidOptionError('extraBody', `extraBody is for payments.create; ${remedy}`);
  }
  const { method: given, path, body } = request as Partial<ServiceRequest>;
  const issues = [
    ...findMethodIssues(given, body),
    ...findPathIssues(path),
    ...findUnknownFields(request, ['method', 'path', 'body'], NOT_OF_REQUEST),
  ];
  if (issues.length > 0) throw new InvalidRequestError(issues);
  const method = String(given).toUpperCase();
  const target = `${client.baseUrl.pathPrefix}${path}`;
  return {
    operation: 'request',
    method,
    path: target.split('?', 1)[0] as string,
    safe: SAFE_METHODS.includes(method),
    target,
    body: body === undefined ? undefined : writeBody(body, 'body'),
    client,
    options,
    merchantPaymentReference: undefined,
    // The promise is about creations, and only they carry the key.
    mayRepeat: false,
  };
}

export function toRequest(call: Call, { authorization }: Credentials): PreparedRequest {
  const { client, options, method, path, safe, target, body } = call;
  const headers: Record<string, string> = { authorization, ...client.headers, ...options?.headers };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const { idempotency } = client;
  // Last: nothing stores the headers of a call, and `recover` must send the same key.
  if (typeof idempotency === 'object' && call.mayRepeat)
    headers[idempotency.header] = toIdempotencyKey(body as string);
  return { method, safe, origin: client.baseUrl.origin, target, path, headers, body };
}

const NOT_OF_CREATION =
  'is not a field of a payment creation; pass it in extraBody if the service takes it';

const NOT_OF_REQUEST =
  'is not a field of a request, which has method, path and body; options are the second argument';

// Silently dropping a field would create a payment other than the one asked for.
function findUnknownFields(
  input: object,
  known: readonly string[],
  message: string,
): readonly Issue[] {
  if (!isObject(input)) return [];
  return Object.keys(input)
    .filter((field) => !known.includes(field))
    .map((field) => ({ path: [field], message }));
}

/** What is wrong with an extraBody, but for its values. */
function findExtraIssues(extraBody: unknown, inputFields: readonly string[]): readonly Issue[] {
  if (extraBody === undefined) return [];
  const path = ['extraBody'];
  if (!isObject(extraBody)) return [{ path, message: describeMismatch('an object', extraBody) }];
  const hidden = findHidden(extraBody, path);
  if (hidden !== undefined) return [toIssue(hidden)];
  const message = 'must not replace a field of the payment; pass it in the first argument only';
  const replaced = inputFields
    .filter((field) => Object.hasOwn(extraBody, field))
    .map((field) => ({ path: ['extraBody', field], message }));
  // It would replace all of the body, the payment's fields included.
  if (!('toJSON' in extraBody)) return replaced;
  const plain = 'must be left out; pass plain fields';
  return [...replaced, { path: ['extraBody', 'toJSON'], message: plain }];
}

// RFC 9110, section 9.2.1.
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

function findMethodIssues(method: unknown, body: unknown): readonly Issue[] {
  const name = typeof method === 'string' ? method.toUpperCase() : '';
  if (!METHODS.includes(name)) {
    const expected = `one of ${METHODS.join(', ')}`;
    return [{ path: ['method'], message: describeMismatch(expected, method) }];
  }
  if (body === undefined || !['GET', 'HEAD'].includes(name)) return [];
  return [
    { path: ['body'], message: `must be left out with ${name}; put it in the query of path` },
  ];
}

// The characters of a request target. The caller must percent-encode all others: only the caller knows whether
// one is data or a separator.
const TARGET = /^\/(?!\/)[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*$/;
// Also between encoded slashes, which some servers decode first.
const DOT_SEGMENT = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?=\/|%2f|%5c|$)/i;

function findPathIssues(path: unknown): readonly Issue[] {
  if (typeof path !== 'string' || !TARGET.test(path)) {
    const message =
      'must be text that begins with one slash, percent-encoded, such as /api/payments?limit=10';
    return [{ path: ['path'], message }];
  }
  // They would leave the base URL's prefix, or be removed on the way.
  if (DOT_SEGMENT.test(path.split('?', 1)[0] as string)) {
    return [{ path: ['path'], message: 'must not contain "." or ".." segments' }];
  }
  return [];
}

/** @throws {InvalidRequestError} naming the place, when JSON can't carry a value as it is */
function writeBody(value: unknown, place: string): string {
  try {
    return writeJson(value, place);
  } catch (error) {
    throw new InvalidRequestError([toIssue(error as NotJson)]);
  }
}

const toIssue = ({ path, expected, received }: NotJson): Issue => ({
  path,
  message: `must be ${expected}, received ${received}`,
});
