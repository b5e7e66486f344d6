/**
 * The mock service as request handlers for msw.
 *
 * @module merchant-payments/msw
 */
export type { PaymentServiceHandlersOptions } from './handlers.js';
export { paymentServiceHandlers } from './handlers.js';
