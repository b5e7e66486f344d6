import { randomUUID } from 'node:crypto';
import type { InboxEvent } from '../inbox.js';

// Of today's magnitude: in microseconds it has sixteen digits, which a store must not round.
const START_MS = Date.UTC(2026, 2, 1, 12, 0, 0, 123);

/** So many seconds after the time at which changes happen that say nothing else. */
export function seconds(count: number): Date {
  return new Date(START_MS + count * 1000);
}

/** Makes changes of one payment, which no other case has. */
export type Payment = (change?: Partial<InboxEvent>) => InboxEvent;

export function createPayment(paymentReference: string = randomUUID()): Payment {
  return (change) => ({
    key: randomUUID(),
    paymentReference,
    occurredAt: seconds(0),
    processStale: false,
    ...change,
  });
}
