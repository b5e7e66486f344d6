import type { Attributes } from '@opentelemetry/api';

/** The semantic conventions that define the names in {@link HTTP}. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0';

/** Attributes of OpenTelemetry's semantic conventions for HTTP. */
export const HTTP = {
  method: 'http.request.method',
  resendCount: 'http.request.resend_count',
  statusCode: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  url: 'url.full',
  errorType: 'error.type',
} as const;

/** Attributes that this package defines. */
export const OWN = {
  operation: 'merchant_payments.operation',
  outcome: 'merchant_payments.outcome',
  code: 'merchant_payments.code',
  serviceCode: 'merchant_payments.service_code',
  attempt: 'merchant_payments.attempt',
  requestId: 'merchant_payments.request_id',
  context: 'merchant_payments.context',
  key: 'merchant_payments.callback.key',
  skewSeconds: 'merchant_payments.callback.skew_seconds',
  overdue: 'merchant_payments.overdue',
  attentionKind: 'merchant_payments.attention.kind',
  parked: 'merchant_payments.parked',
} as const;

/** Drops attributes without a value, which some exporters would write as "undefined". */
export function present(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The conventions' replacement for an unknown value. */
const OTHER = '_OTHER';

// The methods that the conventions know. Any other may be arbitrary text.
const METHODS = 'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' ');

export function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : OTHER;
}

// A service may have any number of codes, and each would add a time series for the life of the process.
const MAX_CODES = 100;

/**
 * Returns a function that limits the service's codes used as metric labels: the first hundred stay, any more become
 * `_OTHER`.
 */
export function createServiceCodeLabels(): (code: string | undefined) => string | undefined {
  const known = new Set<string>();
  return (code) => {
    if (code === undefined) return undefined;
    if (known.size < MAX_CODES) known.add(code);
    return known.has(code) ? code : OTHER;
  };
}

/** The boundaries in seconds that the conventions recommend for request durations. */
export const DURATION_BOUNDARIES = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
