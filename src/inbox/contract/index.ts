export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export { inboxContract } from './contract.js';
export type { InboxContractCase, InboxContractSubject } from './subject.js';
