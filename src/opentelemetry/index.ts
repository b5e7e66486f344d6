/**
 * OpenTelemetry spans and metrics for calls and callbacks.
 *
 * @module merchant-payments/opentelemetry
 */
export { instrumentMerchantPayments } from './instrument.js';
export type { InstrumentationOptions } from './options.js';
