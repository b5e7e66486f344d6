import { context, propagation, type Tracer, trace } from '@opentelemetry/api';
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

interface Telemetry {
  /** For the test's own spans. */
  readonly tracer: Tracer;
  /** The package's finished spans. */
  spans(): ReadableSpan[];
  /** The data points of the package's metrics, by the metric's name. */
  metrics(): Promise<Record<string, DataPoint<unknown>[]>>;
  descriptions(): Promise<MetricData[]>;
  disable(): void;
}

/** The SDK with its exporters in memory, and its context manager, for one test. */
export function startTelemetry(
  options: Pick<InstrumentationOptions, 'store'> = {},
  processors: SpanProcessor[] = [],
): Telemetry {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter), ...processors],
  });
  tracerProvider.register();
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // Collected only when the test asks.
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const { disable } = instrumentMerchantPayments({ tracerProvider, meterProvider, ...options });
  onTestFinished(async () => {
    disable();
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
    for (const api of [trace, context, propagation]) api.disable();
  });
  const descriptions = async () => {
    metricExporter.reset();
    await reader.forceFlush();
    const [exported] = metricExporter.getMetrics();
    return exported?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
  };
  return {
    tracer: tracerProvider.getTracer('test'),
    spans: () =>
      spanExporter
        .getFinishedSpans()
        .filter(({ instrumentationScope }) => instrumentationScope.name === 'merchant-payments'),
    metrics: async () =>
      Object.fromEntries(
        (await descriptions()).map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]),
      ),
    descriptions,
    disable,
  };
}
