import type { MockEvent } from 'merchant-payments/mock-server';

/** An event as `mock --json` prints it: bodies as text, dates in ISO 8601, no Infinity. */
export function toJsonEvent(event: MockEvent): unknown {
  switch (event.type) {
    case 'request': {
      const { json: _body, ...request } = event.request;
      return { type: event.type, request };
    }
    case 'attempt':
      return {
        type: event.type,
        attempt: {
          ...event.attempt,
          rawBody: new TextDecoder().decode(event.attempt.rawBody),
        },
      };
    case 'delivery': {
      const { id, referenceNumber, status, state } = event.delivery;
      return { type: event.type, delivery: { id, referenceNumber, status, state } };
    }
    case 'faults':
      return {
        type: event.type,
        faults: event.faults.map((fault) => ({
          ...fault,
          times: fault.times === Number.POSITIVE_INFINITY ? 'unlimited' : fault.times,
        })),
      };
    default:
      return event;
  }
}
