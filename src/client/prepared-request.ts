import { InvalidOptionError, InvalidRequestError, type Issue } from '../errors.js';
import { describeMismatch } from '../protocol/describe-value.js';
import { operations } from '../protocol/operations.js';
import { invalidOption } from '../protocol/options.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import type { Credentials } from './credentials.js';
import type { ResolvedClientOptions } from './options.js';
import { defaultHeaders } from './request-headers.js';
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

/** A request before the credentials of its call are known. */
export type RequestDraft = Omit<PreparedRequest, 'headers'>;

/** Makes requests for one client. */
export class RequestFactory {
  readonly #origin: string;
  readonly #pathPrefix: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ baseUrl, headers }: ResolvedClientOptions) {
    this.#origin = baseUrl.origin;
    this.#pathPrefix = baseUrl.pathPrefix;
    this.#headers = { ...defaultHeaders, ...headers };
  }

  /**
   * A payment creation (interface section 4.1).
   *
   * @throws {InvalidRequestError} naming every field that is invalid
   */
  createPayment(input: CreatePaymentInput, extraBody?: Record<string, unknown>): RequestDraft {
    const { findInputIssues, inputFields, method, path, safe } = operations['payments.create'];
    const issues = [
      ...(findInputIssues(input) ?? []),
      ...findUnknownFields(input, inputFields, NOT_OF_CREATION),
      ...findExtraBodyIssues(extraBody, inputFields),
    ];
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const { merchantPaymentReference, amount, currency } = input;
    const fields = { merchantPaymentReference, amount, currency };
    const body =
      extraBody === undefined
        ? JSON.stringify(fields)
        : serializeJson({ ...extraBody, ...fields }, 'extraBody');
    return this.#draft(method, safe, path, body);
  }

  /**
   * A request for any operation.
   *
   * @throws {InvalidRequestError} for a method, path or body that is invalid
   * @throws {InvalidOptionError} for what is no request, and for an `extraBody`
   */
  any(request: ServiceRequest, extraBody: unknown): RequestDraft {
    if (typeof request !== 'object' || request === null) {
      throw invalidOption('request', 'an object with method and path', request);
    }
    if (extraBody !== undefined) {
      const remedy = 'put the fields into the body of the request';
      throw new InvalidOptionError('extraBody', `extraBody is for payments.create; ${remedy}`);
    }
    const { path, body } = request;
    const issues = [
      ...findMethodIssues(request.method, body),
      ...findPathIssues(path),
      ...findUnknownFields(request, REQUEST_FIELDS, NOT_OF_REQUEST),
    ];
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const method = request.method.toUpperCase();
    const text = body === undefined ? undefined : serializeJson(body, 'body');
    return this.#draft(method, SAFE_METHODS.includes(method), path, text);
  }

  /** The request as it goes on the wire. */
  prepare(
    draft: RequestDraft,
    { authorization }: Credentials,
    callHeaders: Readonly<Record<string, string>> | undefined,
  ): PreparedRequest {
    const given = Object.entries({ ...this.#headers, ...callHeaders }).flat();
    const headers = ['authorization', authorization, ...given];
    if (draft.body !== undefined) headers.push('content-type', 'application/json');
    return { ...draft, headers };
  }

  #draft(method: string, safe: boolean, path: string, body: string | undefined): RequestDraft {
    const target = this.#pathPrefix + path;
    const queryAt = target.indexOf('?');
    return {
      method,
      safe,
      origin: this.#origin,
      target,
      path: queryAt === -1 ? target : target.slice(0, queryAt),
      body,
    };
  }
}

const NOT_OF_CREATION =
  'is not a field of a payment creation; pass it in extraBody if the service takes it';

const REQUEST_FIELDS: readonly string[] = [
  'method',
  'path',
  'body',
] satisfies (keyof ServiceRequest)[];

const NOT_OF_REQUEST =
  'is not a field of a request, which has method, path and body; options are the second argument';

// Silently dropping a field would create a payment other than the one asked for.
function findUnknownFields(
  input: object,
  known: readonly string[],
  message: string,
): readonly Issue[] {
  if (typeof input !== 'object' || input === null) return [];
  return Object.keys(input)
    .filter((field) => !known.includes(field))
    .map((field) => ({ path: [field], message }));
}

function findExtraBodyIssues(extraBody: unknown, inputFields: readonly string[]): readonly Issue[] {
  if (extraBody === undefined) return [];
  if (typeof extraBody !== 'object' || extraBody === null || Array.isArray(extraBody)) {
    return [{ path: ['extraBody'], message: describeMismatch('an object', extraBody) }];
  }
  const replaced = inputFields.filter((field) => Object.hasOwn(extraBody, field));
  const issues = replaced.map((field) => ({
    path: ['extraBody', field],
    message: 'must not replace a field of the payment; pass it in the first argument only',
  }));
  // Copied into the body, it would replace all of it, the payment's fields included.
  if (Object.hasOwn(extraBody, 'toJSON')) {
    issues.push({ path: ['extraBody', 'toJSON'], message: 'must be left out; pass plain fields' });
  }
  return issues;
}

// RFC 9110, section 9.2.1.
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

function findMethodIssues(method: unknown, body: unknown): readonly Issue[] {
  if (typeof method !== 'string' || !METHODS.includes(method.toUpperCase())) {
    const expected = `one of ${METHODS.join(', ')}`;
    return [{ path: ['method'], message: describeMismatch(expected, method) }];
  }
  const name = method.toUpperCase();
  if (body !== undefined && (name === 'GET' || name === 'HEAD')) {
    return [
      { path: ['body'], message: `must be left out with ${name}; put it in the query of path` },
    ];
  }
  return [];
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

/**
 * Serializes a value of unknown shape.
 *
 * @throws {InvalidRequestError} naming the place, when JSON can't carry the value: NaN and infinity would silently
 * become null
 */
function serializeJson(value: unknown, name: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, createNumberCheck(name));
  } catch (error) {
    if (error instanceof InvalidRequestError) throw error;
    // The engine's own message can quote keys of the value.
    const message =
      'must be serializable as JSON, but it is circular, holds a BigInt, or its toJSON failed';
    throw new InvalidRequestError([{ path: [name], message }]);
  }
  if (text !== undefined) return text;
  throw new InvalidRequestError([
    { path: [name], message: describeMismatch('serializable as JSON', value) },
  ]);
}

/** A replacer for one value, which refuses numbers that JSON can't carry. */
function createNumberCheck(name: string) {
  const path: string[] = [];
  const around: unknown[] = [];
  return function (this: unknown, key: string, value: unknown): unknown {
    // JSON.stringify passes no path: drop what lies deeper than the value's holder, which has been visited.
    const depth = around.lastIndexOf(this) + 1;
    around.splice(depth, around.length, value);
    path.splice(depth, path.length, depth === 0 ? name : key);
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw new InvalidRequestError([{ path, message: describeMismatch('a finite number', value) }]);
  };
}
