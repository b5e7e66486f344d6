import type { InboxContext, InboxEvent } from '../../../src/store/inbox.js';

export const START = new Date('2026-01-02T03:04:05.000Z');

/** A change of the payment, so many minutes after the first. */
export function change(
  paymentReference: string,
  minute = 0,
  more: Partial<InboxEvent> = {},
): InboxEvent {
  return {
    key: `${paymentReference}-${minute}`,
    paymentReference,
    occurredAt: new Date(START.getTime() + minute * 60_000),
    processStale: false,
    ...more,
  };
}

export const nothing = async (): Promise<void> => undefined;

/** A promise with the functions that settle it. */
export function deferred<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<Value>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

/** Work that runs until the test ends it. */
export function heldWork<Tx>() {
  const started = deferred<InboxContext<Tx>>();
  const held = deferred<void>();
  const work = (context: InboxContext<Tx>): Promise<void> => {
    started.resolve(context);
    return held.promise;
  };
  return { work, started: started.promise, finish: held.resolve, fail: held.reject };
}
