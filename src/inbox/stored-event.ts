import { toStoredName } from '../storage/stored-name.js';
import { assertNamed, type InboxEvent, toEpochMicroseconds } from './inbox.js';

/** An event as the tables of a database server keep it. */
export interface StoredEvent {
  readonly reference: string;
  readonly key: string;
  /** When it happened, in epoch microseconds: digits, as a bigint is beyond what a number holds. */
  readonly occurredAtUs: string;
  readonly processStale: boolean;
}

export function toStoredEvent(event: InboxEvent): StoredEvent {
  assertNamed(event);
  return {
    reference: toStoredName(event.paymentReference),
    key: toStoredName(event.key),
    occurredAtUs: String(toEpochMicroseconds(event)),
    processStale: event.processStale,
  };
}
