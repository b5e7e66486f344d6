/**
 * The tests of an inbox, for a store of your own.
 *
 * @module merchant-payments/inbox/contract
 */
export { inboxContract } from './contract.js';
export type { InboxContractCase, InboxContractSubject } from './subject.js';
