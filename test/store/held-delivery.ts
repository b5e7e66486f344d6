import type { CallbackStore, ChangeOutcome, StatusChange } from '../../src/store/callback-store.js';
import { outcomeOf } from './outcome-of.js';

/** A change of one payment, of which the key and the time differ from call to call. */
export function changeAt(
  updatedAt: string,
  {
    order = 'order-1',
    payment = 'payment-1',
    status = 'authorized',
    ...more
  }: { order?: string; payment?: string; status?: string } & Partial<
    Omit<StatusChange, 'payment'>
  > = {},
): StatusChange {
  return {
    key: `key-${updatedAt}`,
    payment: {
      referenceNumber: payment,
      merchantPaymentReference: order,
      providerReference: 'provider-1',
      status,
      createdAt: '2026-01-31T11:00:00Z',
      updatedAt,
    },
    ...more,
  };
}

/** A delivery whose work has begun and ends when the test says so. */
export interface HeldDelivery {
  readonly signal: AbortSignal;
  readonly result: Promise<ChangeOutcome>;
  complete(): Promise<ChangeOutcome>;
  fail(error: Error): Promise<ChangeOutcome>;
}

/** Rejects when the work is not begun. */
export async function hold(store: CallbackStore, change: StatusChange): Promise<HeldDelivery> {
  let complete = () => {};
  let fail = (_error: Error) => {};
  const end = new Promise<void>((resolve, reject) => {
    complete = resolve;
    fail = reject;
  });
  let result: Promise<ChangeOutcome> | undefined;
  const signal = await new Promise<AbortSignal>((begun, notBegun) => {
    result = outcomeOf(store, change, (context) => {
      begun(context.signal);
      return end;
    });
    result.then((outcome) => notBegun(new Error(`The work was not begun: ${outcome}`)), notBegun);
  });
  const settled = result as Promise<ChangeOutcome>;
  return {
    signal,
    result: settled,
    complete: () => {
      complete();
      return settled;
    },
    fail: (error) => {
      fail(error);
      return settled;
    },
  };
}

/** Delivers with work that completes at once. */
export function deliver(store: CallbackStore, change: StatusChange): Promise<ChangeOutcome> {
  return outcomeOf(store, change, async () => {});
}

/** Resolves with whether the work was told that the change is current; undefined if it did not run. */
export async function isCurrent<Tx>(
  store: CallbackStore<Tx>,
  change: StatusChange,
): Promise<boolean | undefined> {
  let told: boolean | undefined;
  await outcomeOf(store, change, async ({ current }) => {
    told = current;
  });
  return told;
}
