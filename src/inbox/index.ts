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
} from '../store/failed-changes.js';
export type {
  CallbackInbox,
  FailureKeepingInbox,
  InboxContext,
  InboxEvent,
  InboxOutcome,
} from '../store/inbox.js';
export type { MemoryInboxOptions } from '../store/memory-inbox.js';
export { memoryInbox } from '../store/memory-inbox.js';
