/**
 * OpenTelemetry spans and metrics for calls and callbacks.
 *
 * @module merchant-payments/opentelemetry
 */
export { instrumentMerchantPayments } from './instrument.js';
export type { Instrumentation, InstrumentationOptions } from './options.js';
