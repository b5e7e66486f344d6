import { metrics as metricsApi, trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import { createClient, created, order, startRawServer } from '../client/raw-server.js';
import { createScene, post } from '../receiver/scene.js';
import { startSdk } from './telemetry.js';

/** How many spans there are, and how many calls and callbacks the counters have. */
async function countOf({ spans, metrics }: ReturnType<typeof startSdk>) {
  const counters = Object.entries(await metrics())
    .filter(([name]) => /\.(?:calls|callbacks)$/.test(name))
    .flatMap(([, points]) => points.map(({ value }) => Number(value)));
  return {
    spans: spans().length,
    counted: counters.reduce((sum, value) => sum + value, 0),
  };
}

/** A call and a callback. */
async function useBoth(): Promise<void> {
  const server = await startRawServer({ answer: () => created });
  await createClient(server.url).payments.create(order);
  await createScene().receive(post());
}

describe('instrumenting twice', () => {
  it('with the same providers records once, until both are disabled', async () => {
    const sdk = startSdk();
    const { tracerProvider, meterProvider } = sdk;
    const first = instrumentMerchantPayments({ tracerProvider, meterProvider });
    const second = instrumentMerchantPayments({ tracerProvider, meterProvider });
    await useBoth();
    expect(await countOf(sdk)).toEqual({ spans: 2, counted: 2 });
    first.disable();
    first.disable();
    await useBoth();
    expect(await countOf(sdk)).toEqual({ spans: 4, counted: 4 });
    second.disable();
    await useBoth();
    expect(await countOf(sdk)).toEqual({ spans: 4, counted: 4 });
    const third = instrumentMerchantPayments({ tracerProvider, meterProvider });
    onTestFinished(() => third.disable());
    await useBoth();
    expect(await countOf(sdk)).toEqual({ spans: 6, counted: 6 });
  });

  it('with the global providers records once', async () => {
    const sdk = startSdk();
    const { tracerProvider, meterProvider } = sdk;
    trace.setGlobalTracerProvider(tracerProvider);
    metricsApi.setGlobalMeterProvider(meterProvider);
    onTestFinished(() => {
      trace.disable();
      metricsApi.disable();
    });
    const all = [1, 2, 3].map(() => instrumentMerchantPayments());
    onTestFinished(() => all.forEach(({ disable }) => void disable()));
    await useBoth();
    expect(await countOf(sdk)).toEqual({ spans: 2, counted: 2 });
  });

  it('with other providers records for each', async () => {
    const sdks = [startSdk(), startSdk()];
    const all = sdks.map(({ tracerProvider, meterProvider }) =>
      instrumentMerchantPayments({ tracerProvider, meterProvider }),
    );
    onTestFinished(() => all.forEach(({ disable }) => void disable()));
    await useBoth();
    for (const sdk of sdks) expect(await countOf(sdk)).toEqual({ spans: 2, counted: 2 });
  });
});
