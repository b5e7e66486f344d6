/**
 * Stores payments before they are sent, so that no order gets two: the outbox interface, and an outbox in
 * memory.
 *
 * @module merchant-payments/outbox
 */
export type { MemoryOutboxOptions } from '../store/memory-outbox.js';
export { memoryOutbox } from '../store/memory-outbox.js';
export type { OutboxOptions } from '../store/options.js';
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
} from '../store/outbox.js';
