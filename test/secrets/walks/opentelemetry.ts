import { context, propagation, trace } from '@opentelemetry/api';
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
import { instrumentMerchantPayments } from '../../../src/opentelemetry/instrument.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { memoryStore } from '../../../src/store/memory.js';
import { now } from '../../callback/sample-callback.js';
import { customer, signingText } from '../planted.js';
import type { See, Walks } from '../watch.js';
import { createLogger } from './client.js';
import { refusals, signed } from './signed-callback.js';
import { createClient, order } from './store-payments.js';

/** Does everything of which spans and metrics are made: calls that fail in every way, and callbacks. */
async function work(see: See): Promise<void> {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  tracerProvider.register();
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const client = createClient({ logger: createLogger(see) });
  let nowMs = 0;
  const store = memoryStore({ client, logger: createLogger(see), now: () => nowMs });
  const instrumentation = instrumentMerchantPayments({
    tracerProvider,
    meterProvider,
    store,
  });
  see('the instrumentation', instrumentation);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await store.create(order).catch(() => undefined);
    nowMs += 900_000;
    for await (const item of store.attention({ kinds: ['unresolved'] })) {
      if (item.kind === 'unresolved') await store.markNotCreated(item);
    }
  }
  const receiver = createCallbackReceiver({
    now,
    signingSecret: signingText,
    store,
    logger: createLogger(see),
    onPayment: () => Promise.reject(new Error(`${customer} ${signingText}`)),
    onError: () => {},
    onRejected: () => {},
  });
  const requests = refusals(signingText).map(([, request]) => request);
  for (const request of [signed(signingText), ...requests]) {
    const received = receiver.receive({ method: 'POST', ...Object(request) } as never);
    await received.catch(() => undefined);
  }
  await reader.forceFlush();
  const spans = spanExporter.getFinishedSpans();
  if (spans.length < 20) throw new Error('spans are missing');
  const shown = spans.map(({ name, attributes, events, status }) => [
    name,
    attributes,
    events,
    status,
  ]);
  see('the spans', shown);
  const metrics = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  if (metrics.length === 0) throw new Error('metrics are missing');
  see('the metrics', JSON.parse(JSON.stringify(metrics)));
  instrumentation.disable();
  await tracerProvider.shutdown();
  await meterProvider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
}

export const opentelemetryWalks: Walks = {
  './opentelemetry instrumentMerchantPayments': {
    'in spans and metrics of calls and callbacks': work,
  },
};
