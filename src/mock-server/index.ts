export { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type { SignatureEncoding } from '../protocol/wire.js';
export type { ManualClock, ManualClockOptions, MockClock, MockTimer } from './clock.js';
export { createManualClock } from './clock.js';
export { ConnectionLossError } from './connection-loss.js';
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryMatch,
  DeliveryOutcome,
  DeliveryState,
  WaitOptions,
} from './delivery.js';
export type * from './fault-types.js';
export type { MockFaults } from './faults.js';
export type { MockService } from './mock-service.js';
export type { MockServerOptions, MockServiceOptions } from './options.js';
export type { MockPayment, MockPayments } from './payment-book.js';
export type { RecordedRequest, RequestMatch } from './recorded-request.js';
export type { MockServer } from './server.js';
export { startMockServer } from './server.js';
export { createMockService } from './service.js';
