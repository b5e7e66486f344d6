import { InvalidRequestError, type Issue } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { type CreatePaymentInput, findCreatePaymentIssues } from '../protocol/payment.js';
import { PAYMENTS_PATH } from '../protocol/wire.js';
import { serializeJson } from './json-body.js';
import type { ResolvedClientOptions } from './options.js';
import type { PreparedRequest } from './transport/transport.js';
import { userAgent } from './user-agent.js';

/** A request for an operation that this SDK does not know. */
export interface ServiceRequest {
  /** GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS. */
  method: string;
  /** Path below the base URL, beginning with a slash; may carry a query. Percent-encoded. */
  path: string;
  /** Sent as JSON. Not with GET or HEAD. */
  body?: unknown;
}

/** Makes prepared requests for one client, whose headers are the same for every call. */
export class RequestFactory {
  readonly #origin: string;
  readonly #pathPrefix: string;
  readonly #headers: readonly string[];
  readonly #jsonHeaders: readonly string[];

  constructor({ baseUrl, credentials }: ResolvedClientOptions) {
    this.#origin = baseUrl.origin;
    this.#pathPrefix = baseUrl.pathPrefix;
    this.#headers = Object.freeze([
      'authorization',
      credentials.authorization,
      'accept',
      'application/json',
      // Without it a server may compress, and the size of what comes would not be that on the wire.
      'accept-encoding',
      'identity',
      'user-agent',
      userAgent,
    ]);
    this.#jsonHeaders = Object.freeze([...this.#headers, 'content-type', 'application/json']);
  }

  /**
   * Creation of a payment (interface section 4.1).
   *
   * @throws {InvalidRequestError} naming every field that can't be right
   */
  createPayment(input: CreatePaymentInput, extraBody?: Record<string, unknown>): PreparedRequest {
    const issues = [
      ...(findCreatePaymentIssues(input) ?? []),
      ...findUnknownFields(input, CREATE_FIELDS, NOT_OF_CREATION),
      ...findExtraBodyIssues(extraBody),
    ];
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const { merchantPaymentReference, amount, currency } = input;
    const fields = { merchantPaymentReference, amount, currency };
    const body =
      extraBody === undefined
        ? JSON.stringify(fields)
        : serializeJson({ ...extraBody, ...fields }, 'extraBody');
    return this.#prepare('POST', PAYMENTS_PATH, body);
  }

  /** @throws {InvalidRequestError} for a method, path or body that can't be right */
  any(request: ServiceRequest): PreparedRequest {
    const { method, path, body } = request;
    const issues = [
      ...findMethodIssues(method, body),
      ...findPathIssues(path),
      ...findUnknownFields(request, REQUEST_FIELDS, NOT_OF_REQUEST),
    ];
    if (issues.length > 0) throw new InvalidRequestError(issues);
    return this.#prepare(
      method.toUpperCase(),
      path,
      body === undefined ? undefined : serializeJson(body, 'body'),
    );
  }

  #prepare(method: string, path: string, body: string | undefined): PreparedRequest {
    const target = this.#pathPrefix + path;
    const queryAt = target.indexOf('?');
    return {
      method,
      safe: SAFE_METHODS.includes(method),
      origin: this.#origin,
      target,
      path: queryAt === -1 ? target : target.slice(0, queryAt),
      headers: body === undefined ? this.#headers : this.#jsonHeaders,
      body,
    };
  }
}

const CREATE_FIELDS: readonly string[] = [
  'merchantPaymentReference',
  'amount',
  'currency',
] satisfies (keyof CreatePaymentInput)[];

const NOT_OF_CREATION =
  'is not a field of a payment creation; pass it in extraBody if the service takes it';

const REQUEST_FIELDS: readonly string[] = [
  'method',
  'path',
  'body',
] satisfies (keyof ServiceRequest)[];

const NOT_OF_REQUEST =
  'is not a field of a request, which has method, path and body; options are the second argument';

// A field that was dropped in silence would be a payment other than the one that was asked for.
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

function findExtraBodyIssues(extraBody: unknown): readonly Issue[] {
  if (extraBody === undefined) return [];
  if (typeof extraBody !== 'object' || extraBody === null || Array.isArray(extraBody)) {
    return [
      { path: ['extraBody'], message: `must be an object, but ${describeValue(extraBody)} came` },
    ];
  }
  const replaced = CREATE_FIELDS.filter((field) => Object.hasOwn(extraBody, field));
  const issues = replaced.map((field) => ({
    path: ['extraBody', field],
    message: 'must not replace a field of the payment; pass it in the first argument only',
  }));
  // It would be copied into the body and answer for all of it, the payment's fields included.
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
    return [
      {
        path: ['method'],
        message: `must be one of ${METHODS.join(', ')}, but ${describeValue(method)} came`,
      },
    ];
  }
  const name = method.toUpperCase();
  if (body !== undefined && (name === 'GET' || name === 'HEAD')) {
    return [
      { path: ['body'], message: `must be left out with ${name}; put it in the query of path` },
    ];
  }
  return [];
}

// What may stand in a request target; anything else must be percent-encoded by the caller, who
// knows whether it is data or a separator.
const TARGET = /^\/(?!\/)[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*$/;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i;

function findPathIssues(path: unknown): readonly Issue[] {
  if (typeof path !== 'string' || !TARGET.test(path)) {
    return [
      {
        path: ['path'],
        message: `must begin with one slash and be percent-encoded, such as /api/payments?limit=10, but ${describeValue(path)} came that does not`,
      },
    ];
  }
  // They would leave the base URL's prefix, or be taken out on the way.
  if (DOT_SEGMENT.test(path.split('?', 1)[0] as string)) {
    return [{ path: ['path'], message: 'must not contain "." or ".." segments, but it does' }];
  }
  return [];
}
