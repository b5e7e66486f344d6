import type { BatchObservableResult, Meter } from '@opentelemetry/api';
import { within } from '../protocol/within.js';
import { OWN } from './attributes.js';
import type { ResolvedInstrumentation } from './options.js';

/** More are not counted: a list is read at each collection, and beyond this the exact number changes nothing. */
const MOST = 1_000;

/** How long one collection waits for a list. Prometheus gives up a whole scrape after 10 seconds. */
const PATIENCE_MS = 5_000;

type Lists = Pick<ResolvedInstrumentation, 'outbox' | 'inbox'>;

/** Makes gauges of what needs a person. */
export function watchLists(meter: Meter, { outbox, inbox }: Lists): () => void {
  const stops: (() => void)[] = [];
  if (outbox !== undefined) stops.push(watchOutbox(meter, outbox));
  if (inbox !== undefined) stops.push(watchInbox(meter, inbox));
  return () => {
    for (const stop of stops) stop();
  };
}

function watchOutbox(meter: Meter, outbox: NonNullable<Lists['outbox']>): () => void {
  const unresolved = meter.createObservableGauge('merchant_payments.outbox.unresolved', {
    description: `Payments that the service may or may not have: ${MOST} stands for ${MOST} or more`,
    unit: '{payment}',
  });
  const age = meter.createObservableGauge('merchant_payments.outbox.unresolved.age', {
    description: 'Time since the oldest unresolved payment was sent; 0 when there is none',
    unit: 's',
  });
  const seconds = meter.createObservableGauge('merchant_payments.outbox.second_payments', {
    description: `Payments that an order has beside its first: ${MOST} stands for ${MOST} or more`,
    unit: '{payment}',
  });
  return observe(meter, [unresolved, age, seconds], async () => {
    let count = 0;
    let oldest: Date | undefined;
    for await (const { sentAt } of outbox.unresolved({ limit: MOST })) {
      count += 1;
      oldest ??= sentAt;
    }
    const second = await countAll(outbox.secondPayments({ limit: MOST }));
    return (result) => {
      result.observe(unresolved, count);
      const ageMs = oldest === undefined ? 0 : Date.now() - oldest.getTime();
      result.observe(age, Math.max(0, ageMs / 1_000));
      result.observe(seconds, second);
    };
  });
}

function watchInbox(meter: Meter, inbox: NonNullable<Lists['inbox']>): () => void {
  const failed = meter.createObservableGauge('merchant_payments.inbox.failed_changes', {
    description: `Status changes whose work failed: ${MOST} in all stands for ${MOST} or more`,
    unit: '{change}',
  });
  return observe(meter, [failed], async () => {
    const counts = { failing: 0, parked: 0 };
    for await (const { parked } of inbox.failedChanges({ limit: MOST })) {
      counts[parked ? 'parked' : 'failing'] += 1;
    }
    return (result) => {
      result.observe(failed, counts.failing, { [OWN.parked]: false });
      result.observe(failed, counts.parked, { [OWN.parked]: true });
    };
  });
}

async function countAll(list: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of list) count += 1;
  return count;
}

type Gauge = ReturnType<Meter['createObservableGauge']>;
type Write = (result: BatchObservableResult) => void;

/**
 * Reads at each collection. What can't be read, or not in time, is not observed: an SDK would log the error
 * of a database with all that it says, and an old figure would pass for the present one.
 */
function observe(meter: Meter, gauges: Gauge[], read: () => Promise<Write>): () => void {
  let reading: Promise<Write | undefined> | undefined;
  const collect = async (result: BatchObservableResult): Promise<void> => {
    // One that hangs is not begun again.
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    (await within(PATIENCE_MS, reading, () => undefined))?.(result);
  };
  meter.addBatchObservableCallback(collect, gauges);
  return () => meter.removeBatchObservableCallback(collect, gauges);
}
