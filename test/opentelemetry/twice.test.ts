import { metrics as metricsApi, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import { createClient, created, order, startRawServer } from '../client/raw-server.js';
import { createScene, post } from '../receiver/scene.js';

/** The SDK with exporters in memory. */
function startSdk() {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spans)],
  });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
  });
  /** How many spans there are, and how many calls and callbacks the counters have. */
  const count = async () => {
    exporter.reset();
    await reader.forceFlush();
    const recorded = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    const counters = recorded
      .flatMap(({ metrics }) => metrics)
      .filter(({ descriptor }) => /\.(?:calls|callbacks)$/.test(descriptor.name))
      .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => Number(value)));
    return {
      spans: spans.getFinishedSpans().length,
      counted: counters.reduce((sum, value) => sum + value, 0),
    };
  };
  return { tracerProvider, meterProvider, count };
}

/** A call and a callback. */
async function useBoth(): Promise<void> {
  const server = await startRawServer({ answer: () => created });
  await createClient(server.url).payments.create(order);
  await createScene().receive(post());
}

describe('instrumenting twice', () => {
  it('with the same providers records once, until both are disabled', async () => {
    const { tracerProvider, meterProvider, count } = startSdk();
    const first = instrumentMerchantPayments({ tracerProvider, meterProvider });
    const second = instrumentMerchantPayments({ tracerProvider, meterProvider });
    await useBoth();
    expect(await count()).toEqual({ spans: 2, counted: 2 });
    first.disable();
    first.disable();
    await useBoth();
    expect(await count()).toEqual({ spans: 4, counted: 4 });
    second.disable();
    await useBoth();
    expect(await count()).toEqual({ spans: 4, counted: 4 });
    const third = instrumentMerchantPayments({ tracerProvider, meterProvider });
    onTestFinished(() => third.disable());
    await useBoth();
    expect(await count()).toEqual({ spans: 6, counted: 6 });
  });

  it('with the global providers records once', async () => {
    const { tracerProvider, meterProvider, count } = startSdk();
    trace.setGlobalTracerProvider(tracerProvider);
    metricsApi.setGlobalMeterProvider(meterProvider);
    onTestFinished(() => {
      trace.disable();
      metricsApi.disable();
    });
    const all = [1, 2, 3].map(() => instrumentMerchantPayments());
    onTestFinished(() => all.forEach(({ disable }) => void disable()));
    await useBoth();
    expect(await count()).toEqual({ spans: 2, counted: 2 });
  });

  it('with other providers records for each', async () => {
    const sdks = [startSdk(), startSdk()];
    const all = sdks.map((sdk) =>
      instrumentMerchantPayments({
        tracerProvider: sdk.tracerProvider,
        meterProvider: sdk.meterProvider,
      }),
    );
    onTestFinished(() => all.forEach(({ disable }) => void disable()));
    await useBoth();
    for (const { count } of sdks) expect(await count()).toEqual({ spans: 2, counted: 2 });
  });
});
