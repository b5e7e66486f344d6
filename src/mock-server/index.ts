/**
 * A stateful mock of the service, with faults and a clock that can be moved.
 *
 * @module merchant-payments/mock-server
 */

export { MockServerError } from '../errors.js';
export type { RecordedAnswer, RecordedRequest, RequestMatch } from './api/recorded-request.js';
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryMatch,
} from './callbacks/delivery.js';
export type {
  CallbackFault,
  Fault,
  RequestFault,
} from './faults/fault-catalogue.js';
export type { MockFaults } from './faults/fault-list.js';
export type { MockEvent, MockService } from './mock-service.js';
export type { MockServerOptions, MockServiceOptions } from './options.js';
export type { MockServer } from './server.js';
export { startMockServer } from './server.js';
export { createMockService } from './service.js';
export type { PaymentOrReference } from './state/cap.js';
export type { MockClock } from './state/clock.js';
export { createManualClock } from './state/clock.js';
export type { MockPayment, MockPayments } from './state/payments.js';
