/**
 * The tests of an outbox, for a store of your own.
 *
 * @module merchant-payments/outbox/contract
 */
export { outboxContract } from './contract.js';
export type {
  OutboxContractCase,
  OutboxContractOptions,
  OutboxContractSubject,
} from './subject.js';
