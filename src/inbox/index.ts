/**
 * What an inbox is, and the one in memory.
 *
 * @module merchant-payments/inbox
 */
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from './inbox.js';
export type { MemoryInboxOptions } from './memory.js';
export { memoryInbox } from './memory.js';
