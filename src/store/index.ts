/**
 * What a store promises, and a store in memory.
 *
 * @module merchant-payments/store
 */
export type {
  Attention,
  AttentionOptions,
  FailedChange,
  PaymentWithoutCallback,
  SecondPayment,
  UnresolvedPayment,
} from './attention.js';
export type {
  CallbackStore,
  ChangeResult,
  StatusChange,
  StoreContext,
} from './callback-store.js';
export type { FailurePolicy } from './failure.js';
export type { MemoryStoreOptions } from './memory.js';
export { memoryStore } from './memory.js';
export type { StoreOptions } from './options.js';
export type {
  ListedPayment,
  PaymentStore,
  RecordContext,
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  RunningRecovery,
} from './payment-store.js';
export type { StoredPayment } from './stored-payment.js';
