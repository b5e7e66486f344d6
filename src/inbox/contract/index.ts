/**
 * The tests of an inbox, for a store of your own.
 *
 * @module merchant-payments/inbox/contract
 */
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export { inboxContract } from './contract.js';
export type { InboxContractCase, InboxContractSubject } from './subject.js';
