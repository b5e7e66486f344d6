import type { InboxEvent } from '../../src/store/inbox.js';

export function sampleEvent(event: Partial<InboxEvent> = {}): InboxEvent {
  return {
    key: 'change-1',
    paymentReference: 'payment-1',
    occurredAt: new Date('2026-03-01T12:00:00Z'),
    processStale: false,
    ...event,
  };
}
