import { toStoredName } from './stored-name.js';
import { assertNamed, type InboxEvent, toEpochMicroseconds } from './inbox.js';

/** An event as stored by a database server. */
export interface StoredEvent {
  readonly reference: string;
  readonly key: string;
  /** When it happened, in epoch microseconds, as decimal digits: a bigint column can hold more than a safe integer. */
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
