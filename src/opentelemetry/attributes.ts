import type { Attributes } from '@opentelemetry/api';
import { errorCodes } from '../errors.js';

/** Of the semantic conventions that the names of attributes are from. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0';

/** Names of OpenTelemetry's semantic conventions for HTTP. */
export const HTTP = {
  method: 'http.request.method',
  resendCount: 'http.request.resend_count',
  statusCode: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  url: 'url.full',
  errorType: 'error.type',
} as const;

/** Names of this package's own. */
export const OWN = {
  operation: 'merchant_payments.operation',
  outcome: 'merchant_payments.outcome',
  code: 'merchant_payments.code',
  attempt: 'merchant_payments.attempt',
  requestId: 'merchant_payments.request_id',
  reference: 'merchant_payments.merchant_payment_reference',
  context: 'merchant_payments.context',
  key: 'merchant_payments.callback.key',
  skewSeconds: 'merchant_payments.callback.skew_seconds',
  parked: 'merchant_payments.parked',
} as const;

/** Without those that have no value, which some exporters would write as "undefined". */
export function present(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** What the conventions have for a value that is not one of a known few. */
const OTHER = '_OTHER';

// The conventions know these. Another may be anything.
const METHODS = [
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
];

export function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : OTHER;
}

// A service's own codes are as many as it likes; each would be a time series for good.
const MOST_CODES = 100;

/** Gives codes as labels of metrics: those of this package, and the first hundred of the service. */
export function createCodeLabels(): (code: string | undefined) => string | undefined {
  const known = new Set<string>();
  return (code) => {
    if (code === undefined || (errorCodes as readonly string[]).includes(code)) return code;
    if (known.size < MOST_CODES) known.add(code);
    return known.has(code) ? code : OTHER;
  };
}

/** Boundaries in seconds that the conventions advise for the duration of requests. */
export const DURATION_BOUNDARIES = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
