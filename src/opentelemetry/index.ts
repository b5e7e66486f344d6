/**
 * OpenTelemetry spans and metrics for calls and callbacks.
 *
 * @module merchant-payments/opentelemetry
 */
export { type InstrumentationOptions, instrumentMerchantPayments } from './instrument.js';
