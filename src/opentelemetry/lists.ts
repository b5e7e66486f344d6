import type { BatchObservableResult, Meter } from '@opentelemetry/api';
import { within } from '../protocol/within.js';
import { OWN } from './attributes.js';
import type { ResolvedInstrumentation } from './options.js';

/** Where counting stops: each collection reads the list, and beyond this the exact number changes nothing. */
const MAX_COUNT = 1_000;

/** How long a collection waits for a list. Prometheus cancels a whole scrape after 10 seconds. */
const READ_TIMEOUT_MS = 5_000;

type Lists = Pick<ResolvedInstrumentation, 'outbox' | 'inbox'>;

/** Records gauges for what needs a person's attention. */
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
    description: `Payments that the service may or may not have; ${MAX_COUNT} means ${MAX_COUNT} or more`,
    unit: '{payment}',
  });
  const age = meter.createObservableGauge('merchant_payments.outbox.unresolved.age', {
    description: 'Time since the oldest unresolved payment was sent; 0 when there is none',
    unit: 's',
  });
  const seconds = meter.createObservableGauge('merchant_payments.outbox.second_payments', {
    description: `Payments of an order beyond its first; ${MAX_COUNT} means ${MAX_COUNT} or more`,
    unit: '{payment}',
  });
  return observe(meter, [unresolved, age, seconds], async () => {
    let count = 0;
    let oldest: Date | undefined;
    for await (const { sentAt } of outbox.unresolved({ limit: MAX_COUNT })) {
      count += 1;
      oldest ??= sentAt;
    }
    const second = await countAll(outbox.secondPayments({ limit: MAX_COUNT }));
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
    description: `Status changes whose work failed; ${MAX_COUNT} in total means ${MAX_COUNT} or more`,
    unit: '{change}',
  });
  return observe(meter, [failed], async () => {
    const counts = { failing: 0, parked: 0 };
    for await (const { parked } of inbox.failedChanges({ limit: MAX_COUNT })) {
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
 * Calls `read` at each collection. A value that can't be read in time is not observed: the SDK would log a
 * database's error in full, and an old value would look current.
 */
function observe(meter: Meter, gauges: Gauge[], read: () => Promise<Write>): () => void {
  let reading: Promise<Write | undefined> | undefined;
  const collect = async (result: BatchObservableResult): Promise<void> => {
    // A read that hangs is not started again.
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    (await within(READ_TIMEOUT_MS, reading, () => undefined))?.(result);
  };
  meter.addBatchObservableCallback(collect, gauges);
  return () => meter.removeBatchObservableCallback(collect, gauges);
}
