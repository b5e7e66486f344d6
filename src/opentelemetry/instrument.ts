import { metrics, trace } from '@opentelemetry/api';
import { resolveOptions } from '../protocol/options.js';
import { version } from '../protocol/version.js';
import { SCHEMA_URL } from './attributes.js';
import { watchCallbacks } from './callbacks.js';
import { watchCalls } from './calls.js';
import { watchLists } from './lists.js';
import {
  type Instrumentation,
  type InstrumentationOptions,
  instrumentationRules,
} from './options.js';

/**
 * Makes spans and metrics of all clients and receivers of the process, by OpenTelemetry, from the diagnostics
 * channels. Call it once, after the SDK was started. Attributes follow OpenTelemetry's semantic conventions
 * for HTTP, version 1.45.0.
 *
 * - A span of kind CLIENT for each call, under the caller's, with the number of its resends. It is active
 *   while the call runs.
 * - A span for each callback: INTERNAL below the span of the HTTP server where there is one, else SERVER. It
 *   is active while `onPayment` runs.
 * - Counters and histograms of both, by outcome and code.
 * - Gauges of unresolved payments, second payments and failed changes, where `outbox` and `inbox` are given.
 *
 * What fails in it, or in the SDK, changes no call and no callback.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { instrumentMerchantPayments } from 'merchant-payments/opentelemetry';
 *
 * instrumentMerchantPayments();
 * ```
 */
export function instrumentMerchantPayments(options: InstrumentationOptions = {}): Instrumentation {
  const { tracerProvider, meterProvider, outbox, inbox } = resolveOptions(
    options,
    instrumentationRules,
  );
  const scope = ['merchant-payments', version, { schemaUrl: SCHEMA_URL }] as const;
  const tracer = (tracerProvider ?? trace.getTracerProvider()).getTracer(...scope);
  const meter = (meterProvider ?? metrics.getMeterProvider()).getMeter(...scope);
  const stops = [
    watchCalls(tracer, meter),
    watchCallbacks(tracer, meter),
    watchLists(meter, { outbox, inbox }),
  ];
  return {
    disable() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}
