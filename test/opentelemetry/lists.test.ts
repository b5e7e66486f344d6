import { type BatchObservableCallback, createNoopMeter } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStore } from '../../src/store/memory.js';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import type { InstrumentationOptions } from '../../src/opentelemetry/options.js';
import { memoryStore } from '../../src/store/memory.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { ContractService } from '../contract/outbox/service.js';
import { createScene, post } from '../receiver/scene.js';
import { startTelemetry } from './telemetry.js';

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };

/** The values of the gauges, by name. */
async function gauges({ metrics }: ReturnType<typeof startTelemetry>) {
  const all = Object.entries(await metrics()).filter(([name]) => /outbox|inbox/.test(name));
  return Object.fromEntries(
    all.map(([name, points]) => [name, points.map(({ attributes, value }) => [attributes, value])]),
  );
}

describe('the gauges of an outbox', () => {
  const names = ['unresolved', 'unresolved.age', 'second_payments'].map(
    (name) => `merchant_payments.outbox.${name}`,
  ) as [string, string, string];

  function open() {
    const service = new ContractService();
    let nowMs = Date.now();
    const outbox = memoryStore({ client: service.client, now: () => nowMs });
    const telemetry = startTelemetry({ outbox });
    return {
      service,
      outbox,
      telemetry,
      setClock(ms: number) {
        nowMs = ms;
      },
    };
  }

  it('are 0 when there is nothing to do', async () => {
    const { telemetry } = open();
    expect(await gauges(telemetry)).toEqual({
      [names[0]]: [[{}, 0]],
      [names[1]]: [[{}, 0]],
      [names[2]]: [[{}, 0]],
    });
  });

  it('count unresolved payments, with the age of the oldest, and second payments', async () => {
    const { service, outbox, telemetry, setClock } = open();
    const startedAtMs = Date.now();
    setClock(startedAtMs - 60_000);
    for (const merchantPaymentReference of ['order-1', 'order-2']) {
      service.answer(merchantPaymentReference, 'answer-lost');
      await outbox.create({ ...order, merchantPaymentReference });
      setClock(startedAtMs);
    }
    await outbox.create({ ...order, merchantPaymentReference: 'order-3' });
    const second = sampleRecord({ merchantPaymentReference: 'order-3', referenceNumber: 'second' });
    await outbox.settle(second as never, { tx: undefined });
    const shown = await gauges(telemetry);
    const latestMs = Date.now();
    expect(shown).toEqual({
      [names[0]]: [[{}, 2]],
      [names[1]]: [[{}, expect.any(Number)]],
      [names[2]]: [[{}, 1]],
    });
    const [[, age] = []] = shown[names[1]] ?? [];
    expect(age).toBeGreaterThanOrEqual(60);
    expect(age).toBeLessThanOrEqual((latestMs - startedAtMs) / 1_000 + 60);
    setClock(startedAtMs + 60_000);
    await outbox.resolve('order-1', 'not-created', { attempts: 1 });
    expect((await gauges(telemetry))[names[0]]).toEqual([[{}, 1]]);
  });

  it('read at most a thousand', async () => {
    const asked: unknown[] = [];
    const list = async function* (options: unknown) {
      asked.push(options);
      yield* [];
    };
    const telemetry = startTelemetry({ outbox: { unresolved: list, secondPayments: list } });
    await gauges(telemetry);
    expect(asked).toEqual([{ limit: 1_000 }, { limit: 1_000 }]);
  });

  it('are missing while the outbox can’t be read, without an error', async () => {
    let isBroken = true;
    const empty = async function* () {
      yield* [];
    };
    const broken = async function* () {
      if (isBroken) throw new Error('no connection as admin:hunter2');
      yield* [];
    };
    const telemetry = startTelemetry({ outbox: { unresolved: broken, secondPayments: empty } });
    expect(await gauges(telemetry)).toEqual({});
    isBroken = false;
    expect(Object.keys(await gauges(telemetry))).toEqual(names);
  });

  it('are gone after disable()', async () => {
    const { telemetry } = open();
    telemetry.disable();
    expect(await gauges(telemetry)).toEqual({});
  });
});

describe('the gauge of an inbox', () => {
  it('counts failed changes, parked ones separately', async () => {
    const inbox = memoryStore();
    const telemetry = startTelemetry({ store: inbox as Required<typeof inbox> });
    const name = 'merchant_payments.inbox.failed_changes';
    const counts = (failing: number, parked: number) => [
      [{ 'merchant_payments.parked': false }, failing],
      [{ 'merchant_payments.parked': true }, parked],
    ];
    expect((await gauges(telemetry))[name]).toEqual(counts(0, 0));
    const onPayment = () => Promise.reject(new Error('locked'));
    const failing = createScene({ inbox, onPayment });
    await failing.receive(post({ referenceNumber: 'one' }));
    await failing.receive(post({ referenceNumber: 'two' }));
    await createScene({ inbox, onPayment, parkAfter: 1 }).receive(post({ referenceNumber: '3' }));
    expect((await gauges(telemetry))[name]).toEqual(counts(2, 1));
    await createScene({ inbox }).receive(post({ referenceNumber: 'one' }));
    expect((await gauges(telemetry))[name]).toEqual(counts(1, 1));
  });
});

describe('a list that hangs', () => {
  it('is read once, until it answers', async () => {
    let count = 0;
    let answer = () => {};
    const hang = async function* () {
      count += 1;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      yield* [];
    };
    const telemetry = startTelemetry({ store: { failedChanges: hang } });
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
      store: { failedChanges: hang },
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
    ['tracerProvider must be a TracerProvider (with getTracer)', { tracerProvider: {} as never }],
    ['meterProvider must be a MeterProvider (with getMeter)', { meterProvider: 1 as never }],
    ['outbox must be an outbox (with unresolved, secondPayments)', { outbox: {} as never }],
    ['inbox must be an inbox that keeps failed changes', { store: {} as never }],
    ['exporter is not a known option', { exporter: {} } as never],
  ])('are refused: %s', (message, options) => {
    expect(() => instrumentMerchantPayments(options)).toThrow(message);
  });

  it('may all be omitted: without an SDK nothing is recorded', async () => {
    const { disable } = instrumentMerchantPayments();
    onTestFinished(disable);
    expect(await createScene().receive(post())).toMatchObject({ status: 200 });
  });
});
