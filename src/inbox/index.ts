/**
 * The inbox interface, and an inbox in memory.
 *
 * @module merchant-payments/inbox
 */
export type {
  ChangeId,
  FailedChange,
  FailedChangeStore,
  FailedChangesOptions,
  FailurePolicy,
  FailureText,
} from './failed-changes.js';
export type {
  CallbackInbox,
  FailureKeepingInbox,
  InboxContext,
  InboxEvent,
  InboxOutcome,
} from './inbox.js';
export type { MemoryInboxOptions } from './memory.js';
export { memoryInbox } from './memory.js';
