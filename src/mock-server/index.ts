/**
 * A stateful mock of the service, with faults and a clock that can be moved.
 *
 * @module merchant-payments/mock-server
 */
export { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type { SignatureEncoding } from '../protocol/wire.js';
export { ConnectionLossError } from './api/connection-loss.js';
export type { RecordedRequest, RequestMatch } from './api/recorded-request.js';
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryMatch,
  DeliveryOutcome,
  DeliveryState,
  ResendOptions,
  WaitOptions,
} from './callbacks/delivery.js';
export type { AdvanceableClock, MockClock, MockTimer } from './clock/clock.js';
export type { ManualClock, ManualClockOptions } from './clock/manual-clock.js';
export { createManualClock } from './clock/manual-clock.js';
export type { RunningClock } from './clock/running-clock.js';
export { createRunningClock } from './clock/running-clock.js';
export type * from './control/control-types.js';
export type { MockEvent, MockListener } from './events.js';
export type { MockFaults } from './faults/fault-list.js';
export type * from './faults/fault-types.js';
export type { MockService } from './mock-service.js';
export type { MockServerOptions, MockServiceOptions } from './options.js';
export type { MockPayment, MockPayments, MockStatusChange } from './payment.js';
export type { MockServer } from './server.js';
export { startMockServer } from './server.js';
export { createMockService } from './service.js';
