import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import { within } from '../protocol/waiting.js';
import type { AttentionKind } from '../store/attention.js';
import type { CallbackStore } from '../store/callback-store.js';
import { OWN } from './attributes.js';

/** Where counting stops: each collection reads the list, and beyond this the exact number changes nothing. */
const MAX_COUNT = 1_000;

/** How long a collection waits for a list. Prometheus cancels a whole scrape after 10 seconds. */
const READ_TIMEOUT_MS = 5_000;

const KINDS = ['unresolved', 'second-payment', 'failed-change', 'no-callback'] as const;

/** The store whose list is counted. */
export type Listing = Pick<Required<CallbackStore>, 'attention'>;

/** Records gauges for what needs a person's attention. */
export function watchAttention(meter: Meter, store: Listing): () => void {
  const items = meter.createObservableGauge('merchant_payments.attention', {
    description: `Payments and changes that need a person, by kind; ${MAX_COUNT} means ${MAX_COUNT} or more`,
    unit: '{item}',
  });
  const age = meter.createObservableGauge('merchant_payments.attention.age', {
    description:
      'Time since the oldest of them was sent, found, failed or created; 0 when there is none',
    unit: 's',
  });
  return observe(meter, [items, age], async () => {
    const counted: Awaited<ReturnType<typeof count>>[] = [];
    for (const kind of KINDS) counted.push(await count(store, kind));
    return (result) => {
      const nowMs = Date.now();
      for (const { kind, total, parked, oldestMs = nowMs } of counted) {
        const attributes = { [OWN.attentionKind]: kind };
        if (kind === 'failed-change') {
          result.observe(items, total - parked, { ...attributes, [OWN.parked]: false });
          result.observe(items, parked, { ...attributes, [OWN.parked]: true });
        } else {
          result.observe(items, total, attributes);
        }
        result.observe(age, Math.max(0, nowMs - oldestMs) / 1_000, attributes);
      }
    };
  });
}

async function count(store: Listing, kind: AttentionKind) {
  let total = 0;
  let parked = 0;
  let oldestMs: number | undefined;
  for await (const item of store.attention({ kinds: [kind], limit: MAX_COUNT })) {
    total += 1;
    if (item.kind === 'failed-change' && item.parked) parked += 1;
    oldestMs ??= item.since.getTime();
  }
  return { kind, total, parked, oldestMs };
}

type Write = (result: BatchObservableResult) => void;

/**
 * Calls `read` at each collection. A value that can't be read in time is not observed: the SDK would log a
 * database's error in full, and an old value would look current.
 */
function observe(meter: Meter, gauges: Observable[], read: () => Promise<Write>): () => void {
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
