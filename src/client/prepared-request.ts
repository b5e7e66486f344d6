import { InvalidOptionError, InvalidRequestError, type Issue } from '../errors.js';
import { readCreation } from '../protocol/creation.js';
import { describeMismatch } from '../protocol/describe-value.js';
import { type NotJson, readFields, writeJson } from '../protocol/json.js';
import { operations } from '../protocol/operations.js';
import { invalidOption } from '../protocol/options.js';
import { fieldOf, isObject, readOnce } from '../protocol/own-fields.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import type { Credentials } from './credentials.js';
import { toIdempotencyKey } from './idempotency-key.js';
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
export type RequestDraft = Omit<PreparedRequest, 'headers'> & {
  /** Of a payment, where the client sends one. */
  readonly idempotencyKey?: string;
};

/** The request of a creation, and what it was made of. */
export interface CreationDraft extends RequestDraft {
  readonly input: CreatePaymentInput;
}

/** Makes requests for one client. */
export class RequestFactory {
  readonly #origin: string;
  readonly #pathPrefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #idempotencyHeader: string | undefined;

  constructor({ baseUrl, headers, idempotencyHeader }: ResolvedClientOptions) {
    this.#origin = baseUrl.origin;
    this.#pathPrefix = baseUrl.pathPrefix;
    this.#headers = { ...defaultHeaders, ...headers };
    this.#idempotencyHeader = idempotencyHeader;
  }

  /**
   * A payment creation (interface section 4.1).
   *
   * @throws {InvalidRequestError} naming every field that is invalid
   */
  createPayment(given: CreatePaymentInput, extraBody?: unknown): CreationDraft {
    const { inputFields, method, path, safe } = operations['payments.create'];
    const read = readCreation(given);
    const issues = [
      ...(read.issues ?? []),
      ...findUnknownFields(given, inputFields, NOT_OF_CREATION),
    ];
    const extra =
      extraBody === undefined ? undefined : readExtraBody(extraBody, inputFields, issues);
    if (read.issues !== undefined || issues.length > 0) throw new InvalidRequestError(issues);
    const { input } = read;
    const others = extra === undefined ? '{}' : serializeJson(extra, 'extraBody');
    const body = `${others.slice(0, -1)}${others === '{}' ? '' : ','}${writeFields(input)}}`;
    const draft = { ...this.#draft(method, safe, path, body), input };
    if (this.#idempotencyHeader === undefined) return draft;
    return { ...draft, idempotencyKey: toIdempotencyKey(body) };
  }

  /**
   * A request for any operation.
   *
   * @throws {InvalidRequestError} for a method, path or body that is invalid
   * @throws {InvalidOptionError} for what is no request, and for an `extraBody`
   */
  any(request: unknown, extraBody: unknown): RequestDraft {
    if (!isObject(request)) {
      throw invalidOption('request', 'an object with method and path', request);
    }
    if (extraBody !== undefined) {
      const remedy = 'put the fields into the body of the request';
      throw new InvalidOptionError('extraBody', `extraBody is for payments.create; ${remedy}`);
    }
    const { method: given, path, body } = readOnce(request, REQUEST_FIELDS);
    const issues = [
      ...findMethodIssues(given, body),
      ...findPathIssues(path),
      ...findUnknownFields(request, REQUEST_FIELDS, NOT_OF_REQUEST),
    ];
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const method = String(given).toUpperCase();
    const text = body === undefined ? undefined : serializeJson(body, 'body');
    return this.#draft(method, SAFE_METHODS.includes(method), String(path), text);
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
    if (this.#idempotencyHeader !== undefined && draft.idempotencyKey !== undefined)
      headers.push(this.#idempotencyHeader, draft.idempotencyKey);
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

/** Returns the fields of an extraBody, each read once, and adds what is wrong with them to the issues. */
function readExtraBody(
  extraBody: unknown,
  inputFields: readonly string[],
  issues: Issue[],
): Readonly<Record<string, unknown>> {
  if (!isObject(extraBody)) {
    issues.push({ path: ['extraBody'], message: describeMismatch('an object', extraBody) });
    return {};
  }
  try {
    const extra = readFields(extraBody, 'extraBody');
    const replaced = inputFields.filter((field) => Object.hasOwn(extra, field));
    const message = 'must not replace a field of the payment; pass it in the first argument only';
    issues.push(...replaced.map((field) => ({ path: ['extraBody', field], message })));
    // It would replace all of the body, the payment's fields included.
    if (Object.hasOwn(extra, 'toJSON') || typeof fieldOf(extraBody, 'toJSON') === 'function') {
      const message = 'must be left out; pass plain fields';
      issues.push({ path: ['extraBody', 'toJSON'], message });
    }
    return extra;
  } catch (error) {
    issues.push(toIssue(error as NotJson));
    return {};
  }
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

/** @throws {InvalidRequestError} naming the place, when JSON can't carry the value as it is */
function serializeJson(value: unknown, ...path: readonly string[]): string {
  try {
    return writeJson(value, ...path);
  } catch (error) {
    throw new InvalidRequestError([toIssue(error as NotJson)]);
  }
}

const toIssue = ({ path, expected, received }: NotJson): Issue => ({
  path,
  message: `must be ${expected}, received ${received}`,
});

/** The three fields. JSON.stringify would call a toJSON of a polluted Object.prototype. */
const writeFields = ({ merchantPaymentReference, amount, currency }: CreatePaymentInput): string =>
  `"merchantPaymentReference":${JSON.stringify(merchantPaymentReference)},"amount":${amount},"currency":"${currency}"`;
