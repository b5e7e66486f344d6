import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import type { StatusChange, StoreContext } from '../../src/store/callback-store.js';

export { collect } from '../contract/store/stage.js';
export { order } from '../store/orders.js';

export const START = new Date('2026-01-02T03:04:05.000Z');

type ChangeFields = Partial<Omit<StatusChange, 'payment'>> & Partial<PaymentStatusRecord>;

/** A change of the one payment of an order, so many minutes after the first. */
export function change(
  merchantPaymentReference: string,
  minute = 0,
  { key = `${merchantPaymentReference}-${minute}`, failures, ...record }: ChangeFields = {},
): StatusChange {
  return {
    key,
    failures,
    payment: {
      referenceNumber: `pay-${merchantPaymentReference}`,
      merchantPaymentReference,
      providerReference: '',
      status: 'authorized',
      createdAt: START.toISOString(),
      updatedAt: new Date(START.getTime() + minute * 60_000).toISOString(),
      ...record,
    },
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
  const started = deferred<StoreContext<Tx>>();
  const held = deferred<void>();
  const work = (context: StoreContext<Tx>): Promise<void> => {
    started.resolve(context);
    return held.promise;
  };
  return { work, started: started.promise, finish: held.resolve, fail: held.reject };
}
