/**
 * Stores payments before they are sent, so that no order gets two: the outbox interface, and an outbox in
 * memory.
 *
 * @module merchant-payments/outbox
 */
export type { MemoryOutboxOptions } from './memory.js';
export { memoryOutbox } from './memory.js';
export type { OutboxOptions } from './options.js';
export type {
  OutboxContext,
  OutboxFailure,
  OutboxPayment,
  OutboxState,
  PaymentOutbox,
  RecordContext,
  Recovery,
  Resolution,
  SecondPayment,
  SecondPaymentsOptions,
  SeenPayment,
  SettleOutcome,
  UnresolvedOptions,
} from './outbox.js';
