/**
 * The mock of the service as request handlers for msw.
 *
 * @module merchant-payments/msw
 */
export { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
export type { MockService } from '../mock-server/mock-service.js';
export type { MockServiceOptions } from '../mock-server/options.js';
export { createMockService } from '../mock-server/service.js';
export type { PaymentServiceHandlersOptions } from './handlers.js';
export { paymentServiceHandlers } from './handlers.js';
