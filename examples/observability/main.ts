// Spans and metrics of payments, by OpenTelemetry.
//
//   MERCHANT_PAYMENTS_BASE_URL=… npx tsx examples/observability/main.ts
//
// It prints them. With a collector (`otelcol --config examples/observability/collector.yaml`) it sends
// them there:
//
//   OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 npx tsx examples/observability/main.ts

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { PaymentClient } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { instrumentMerchantPayments } from 'merchant-payments/opentelemetry';
import { memoryStore } from 'merchant-payments/store';

// The SDK starts first: the instrumentation uses the providers that it registers.
const hasCollector = process.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
const spanProcessor = hasCollector
  ? new BatchSpanProcessor(new OTLPTraceExporter())
  : new SimpleSpanProcessor(new ConsoleSpanExporter());
const tracerProvider = new NodeTracerProvider({ spanProcessors: [spanProcessor] });
tracerProvider.register();
const exporter = hasCollector ? new OTLPMetricExporter() : new ConsoleMetricExporter();
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter })],
});
metrics.setGlobalMeterProvider(meterProvider);

const client = PaymentClient.fromEnv();
const store = memoryStore({ client });
instrumentMerchantPayments({ store });

const handleCallback = callbackHandler({
  store,
  onPayment({ payment }) {
    console.log(`${payment.merchantPaymentReference} is ${payment.status}`);
  },
});

const server = createServer(async (request, response) => {
  if (request.url === '/callbacks/payments') {
    await handleCallback(request, response);
    return;
  }
  const merchantPaymentReference = `order-${request.url?.slice(1)}`;
  const { state } = await store.create({
    merchantPaymentReference,
    amount: 2500,
    currency: 'EUR',
  });
  response.end(state);
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});

process.on('SIGTERM', () => server.close());
server.once('close', async () => {
  await client.close();
  // Exports what is still pending.
  await tracerProvider.shutdown();
  await meterProvider.shutdown();
});
