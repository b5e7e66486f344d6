import { context, propagation, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { onTestFinished } from 'vitest';
import type { InstrumentationOptions } from '../../src/opentelemetry/instrument.js';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';

/** The SDK with its exporters in memory, for one test. */
export function startSdk(processors: SpanProcessor[] = []) {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter), ...processors],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // Collected only when the test asks.
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
  });
  const descriptions = async (): Promise<MetricData[]> => {
    metricExporter.reset();
    await reader.forceFlush();
    const [exported] = metricExporter.getMetrics();
    return exported?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
  };
  return {
    tracerProvider,
    meterProvider,
    /** For the test's own spans. */
    tracer: tracerProvider.getTracer('test'),
    /** The package's finished spans. */
    spans: (): ReadableSpan[] =>
      spanExporter
        .getFinishedSpans()
        .filter(({ instrumentationScope }) => instrumentationScope.name === 'merchant-payments'),
    /** The data points of the package's metrics, by the metric's name. */
    metrics: async (): Promise<Record<string, DataPoint<unknown>[]>> =>
      Object.fromEntries(
        (await descriptions()).map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]),
      ),
    descriptions,
  };
}

/** An SDK that is registered, with its context manager, and the package instrumented by it. */
export function startTelemetry(
  options: Pick<InstrumentationOptions, 'store'> = {},
  processors: SpanProcessor[] = [],
) {
  const sdk = startSdk(processors);
  const { tracerProvider, meterProvider } = sdk;
  tracerProvider.register();
  const { disable } = instrumentMerchantPayments({ tracerProvider, meterProvider, ...options });
  onTestFinished(() => {
    disable();
    for (const api of [trace, context, propagation]) api.disable();
  });
  return { ...sdk, disable };
}
