import { type BatchObservableCallback, createNoopMeter } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { InstrumentationOptions } from '../../src/opentelemetry/instrument.js';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import { memoryStore } from '../../src/store/memory.js';
import { ContractService } from '../contract/store/service.js';
import { createScene, post } from '../receiver/scene.js';
import { startTelemetry } from './telemetry.js';

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };

const LEASE_MS = 60_000;

const COUNT = 'merchant_payments.attention';
const AGE = `${COUNT}.age`;
const KIND = `${COUNT}.kind`;

/** The values of the gauges, by their kinds; undefined without any. */
async function gauges({ metrics }: ReturnType<typeof startTelemetry>) {
  const { [COUNT]: counts, [AGE]: ages } = await metrics();
  if (counts === undefined && ages === undefined) return undefined;
  const toPairs = (points: typeof counts) =>
    points?.map(({ attributes, value }) => {
      const { [KIND]: kind, 'merchant_payments.parked': parked, ...others } = attributes;
      expect(others).toEqual({});
      return [parked === undefined ? kind : `${kind} ${parked ? 'parked' : 'retried'}`, value];
    }) ?? [];
  return {
    counts: Object.fromEntries(toPairs(counts)) as Record<string, number>,
    ages: Object.fromEntries(toPairs(ages)) as Record<string, number>,
  };
}

const NOTHING = {
  counts: {
    unresolved: 0,
    'second-payment': 0,
    'failed-change retried': 0,
    'failed-change parked': 0,
    'no-callback': 0,
  },
  ages: { unresolved: 0, 'second-payment': 0, 'failed-change': 0, 'no-callback': 0 },
};

describe('the gauges of what needs a person', () => {
  function open() {
    const service = new ContractService();
    let nowMs = Date.now();
    const store = memoryStore({
      client: service.client,
      leaseMs: LEASE_MS,
      requestLifetimeMs: LEASE_MS,
      now: () => nowMs,
    });
    const telemetry = startTelemetry({ store });
    return {
      service,
      store,
      telemetry,
      setClock(ms: number) {
        nowMs = ms;
      },
    };
  }

  it('are 0 when there is nothing to do', async () => {
    expect(await gauges(open().telemetry)).toEqual(NOTHING);
  });

  it('count each kind, with the age of its oldest item', async () => {
    const { service, store, telemetry, setClock } = open();
    const startedAtMs = Date.now();
    setClock(startedAtMs - 2 * LEASE_MS);
    for (const merchantPaymentReference of ['order-1', 'order-2']) {
      service.answer(merchantPaymentReference, 'answer-lost');
      await store.create({ ...order, merchantPaymentReference });
      setClock(startedAtMs - LEASE_MS);
    }
    setClock(startedAtMs);
    await store.create({ ...order, merchantPaymentReference: 'order-3' });
    const second = { merchantPaymentReference: 'order-3', referenceNumber: 'second' };
    await createScene({ store }).receive(post(second));
    setClock(startedAtMs - 7_200_000);
    await store.create({ ...order, merchantPaymentReference: 'order-4' });
    setClock(startedAtMs);
    const shown = await gauges(telemetry);
    const elapsedSeconds = (Date.now() - startedAtMs) / 1_000;
    expect(shown?.counts).toEqual({
      ...NOTHING.counts,
      unresolved: 2,
      'second-payment': 1,
      'no-callback': 1,
    });
    for (const [kind, seconds] of [
      ['unresolved', 120],
      ['second-payment', 0],
      ['failed-change', 0],
      ['no-callback', 7_200],
    ] as const) {
      expect(shown?.ages[kind]).toBeGreaterThanOrEqual(seconds);
      expect(shown?.ages[kind]).toBeLessThanOrEqual(elapsedSeconds + seconds);
    }
    await store.markCreated('order-1', { referenceNumber: 'PAY-1' });
    expect((await gauges(telemetry))?.counts['unresolved']).toBe(1);
  });

  it('count failed changes, parked ones separately', async () => {
    const { store, telemetry } = open();
    const onPayment = () => Promise.reject(new Error('locked'));
    const of = (name: string) => post({ referenceNumber: name, merchantPaymentReference: name });
    const failing = createScene({ store, onPayment });
    await failing.receive(of('one'));
    await failing.receive(of('two'));
    await createScene({ store, onPayment, parkAfter: 1 }).receive(of('three'));
    expect((await gauges(telemetry))?.counts).toEqual({
      ...NOTHING.counts,
      'failed-change retried': 2,
      'failed-change parked': 1,
    });
    await createScene({ store }).receive(of('one'));
    expect((await gauges(telemetry))?.counts['failed-change retried']).toBe(1);
  });

  it('read at most a thousand of each kind', async () => {
    const asked: unknown[] = [];
    const attention = async function* (options: unknown) {
      asked.push(options);
      yield* [];
    };
    await gauges(startTelemetry({ store: { attention } }));
    expect(asked).toEqual(
      ['unresolved', 'second-payment', 'failed-change', 'no-callback'].map((kind) => ({
        kinds: [kind],
        limit: 1_000,
      })),
    );
  });

  it('are not recorded after disable()', async () => {
    const { telemetry } = open();
    telemetry.disable();
    expect(await gauges(telemetry)).toBeUndefined();
  });

  it('are missing while the store can’t be read, without an error', async () => {
    let isBroken = true;
    const attention = async function* () {
      if (isBroken) throw new Error('no connection as admin:hunter2');
      yield* [];
    };
    const telemetry = startTelemetry({ store: { attention } });
    expect(await gauges(telemetry)).toBeUndefined();
    isBroken = false;
    expect(await gauges(telemetry)).toEqual(NOTHING);
  });
});

describe('a list that hangs', () => {
  it('is read once, until it answers', async () => {
    let count = 0;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const hang = async function* () {
      count += 1;
      await answered;
      yield* [];
    };
    const telemetry = startTelemetry({ store: { attention: hang } });
    const reads = [telemetry.metrics(), telemetry.metrics()];
    await new Promise(setImmediate);
    expect(count).toBe(1);
    answer();
    await Promise.all(reads);
  });

  it('delays a collection by at most 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const hang = async function* () {
      yield await new Promise<never>(() => {});
    };
    let collect: BatchObservableCallback = () => expect.unreachable();
    const meter = Object.assign(createNoopMeter(), {
      addBatchObservableCallback(callback: BatchObservableCallback) {
        collect = callback;
      },
    });
    const { disable } = instrumentMerchantPayments({
      meterProvider: { getMeter: () => meter },
      store: { attention: hang },
    });
    onTestFinished(disable);
    const end = vi.fn();
    void Promise.resolve(collect({ observe: () => expect.unreachable() })).then(end, end);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(end).toHaveBeenCalledExactlyOnceWith(undefined);
  });
});

describe('the options of the instrumentation', () => {
  it.each<[string, InstrumentationOptions]>([
    ['tracerProvider must be', { tracerProvider: {} as never }],
    ['meterProvider must be', { meterProvider: 1 as never }],
    ['store must be', { store: {} as never }],
    ['inbox is not a known option', { inbox: {} } as never],
  ])('are refused: %s', (message, options) => {
    expect(() => instrumentMerchantPayments(options)).toThrow(message);
  });

  it('may all be omitted: without an SDK nothing is recorded', async () => {
    const { disable } = instrumentMerchantPayments();
    onTestFinished(disable);
    expect(await createScene().receive(post())).toMatchObject({ status: 200 });
  });
});
