// What a store makes of the callbacks of one order, as model/changes.pml has it: `judge`, `recordChange` and
// `keep`. A delivery is one step here: what happens within it is a transaction, or runs under a lease.
import { isDeepStrictEqual } from 'node:util';
import { end, NOTHING, type Payment, type Row, settle } from './order.js';
import type { Model } from './traces.js';

/** Payment 1 is authorized (1), then paid (2). The order's second payment is paid (3). */
export type ChangeNumber = 1 | 2 | 3;

export type Kept = 'none' | 'failed' | 'parked';

export interface Changes {
  readonly row: Row;
  /** By change. */
  readonly processed: readonly [boolean, boolean, boolean];
  /** By payment, the time of its newest processed change; 0 if none was processed. */
  readonly newest: readonly [number, number];
  /** By change. */
  readonly failures: readonly [Kept, Kept, Kept];
}

export type Delivery =
  | {
      readonly name: 'deliver';
      readonly change: ChangeNumber;
      readonly work: 'completes' | 'throws';
      /** Whether a person replays what is parked. */
      readonly isReplay: boolean;
    }
  /** The service's answer to the store's own request: payment 1 exists. */
  | { readonly name: 'answer' };

export type Verdict = 'run' | 'duplicate' | 'parked';

export const paymentOfChange = (change: ChangeNumber): Payment => (change === 3 ? 2 : 1);
export const timeOf = (change: ChangeNumber): number => (change === 2 ? 2 : 1);
export const saysPaid = (change: ChangeNumber): boolean => change !== 1;

function isOlder({ newest }: Changes, change: ChangeNumber): boolean {
  return (newest[paymentOfChange(change) - 1] ?? 0) > timeOf(change);
}

/** What becomes of a delivery, and what its work is told. */
export function judge(
  place: Changes,
  { change, isReplay }: { readonly change: ChangeNumber; readonly isReplay: boolean },
): { verdict: Verdict; current: boolean } {
  const { paidBy } = place.row;
  const current = !isOlder(place, change) && (paidBy === 0 || paidBy === paymentOfChange(change));
  const verdict = (): Verdict => {
    if (place.processed[change - 1]) return 'duplicate';
    return place.failures[change - 1] === 'parked' && !isReplay ? 'parked' : 'run';
  };
  return { verdict: verdict(), current };
}

function learn(place: Changes, change: ChangeNumber): Changes {
  const isOld = place.processed[change - 1] === true || isOlder(place, change);
  const how = { isPaid: saysPaid(change), isOld };
  return { ...place, row: settle(place.row, paymentOfChange(change), how) };
}

function keep(place: Changes, change: ChangeNumber, kept: Kept): Changes {
  const failures = place.failures.with(change - 1, kept) as unknown as Changes['failures'];
  return { ...place, failures };
}

function record(place: Changes, change: ChangeNumber): Changes {
  const processed = place.processed.with(change - 1, true) as unknown as Changes['processed'];
  const payment = paymentOfChange(change) - 1;
  const newest = isOlder(place, change)
    ? place.newest
    : (place.newest.with(payment, timeOf(change)) as unknown as Changes['newest']);
  return keep({ ...place, processed, newest }, change, 'none');
}

function after(place: Changes, delivery: Delivery, parks: boolean): Changes {
  if (delivery.name === 'answer') {
    return { ...place, row: end({ ...place.row, reference: 1 }, 'unheard') };
  }
  const { change, work } = delivery;
  const { verdict } = judge(place, delivery);
  const learned = learn(place, change);
  if (verdict !== 'run') return learned;
  if (work === 'completes') return record(learned, change);
  return keep(learned, change, parks ? 'parked' : 'failed');
}

function offers(place: Changes): Delivery[] {
  const deliveries = ([1, 2, 3] as const).flatMap((change) =>
    (['completes', 'throws'] as const).flatMap((work) =>
      [false, ...(place.failures[change - 1] === 'parked' ? [true] : [])].map(
        (isReplay): Delivery => ({ name: 'deliver', change, work, isReplay }),
      ),
    ),
  );
  return place.row.owner === 1 ? [...deliveries, { name: 'answer' }] : deliveries;
}

/**
 * The store does not know the order, or is sending its payment.
 *
 * @param parks whether a failure parks its change (`parkAfter: 1`)
 */
export function changes(parks: boolean, isSending: boolean): Model<Changes, Delivery> {
  const sending = { state: 'sending', body: 'A', owner: 1, lease: 1, attempts: 1 } as const;
  return {
    start: {
      row: isSending ? { ...NOTHING, ...sending } : NOTHING,
      processed: [false, false, false],
      newest: [0, 0],
      failures: ['none', 'none', 'none'],
    },
    offers,
    after: (place, delivery) => after(place, delivery, parks),
    isSame: isDeepStrictEqual,
  };
}
