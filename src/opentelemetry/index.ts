/**
 * Spans and metrics of calls and callbacks, by OpenTelemetry.
 *
 * @module merchant-payments/opentelemetry
 */
export { instrumentMerchantPayments } from './instrument.js';
export type { Instrumentation, InstrumentationOptions } from './options.js';
