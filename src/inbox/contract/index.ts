/**
 * The tests of an inbox, for your own store.
 *
 * @module merchant-payments/inbox/contract
 */
export { inboxContract } from './contract.js';
export type { InboxContractCase, InboxContractSubject } from './subject.js';
