/**
 * The tests of an outbox, for your own store.
 *
 * @module merchant-payments/outbox/contract
 */
export { outboxContract } from './contract.js';
export type {
  OutboxContractCase,
  OutboxContractOptions,
  OutboxContractSubject,
} from './subject.js';
