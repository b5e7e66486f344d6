import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { type OptionRules, optional, resolveOptions, withMethods } from '../protocol/options.js';
import { version } from '../protocol/version.js';
import type { CallbackStore } from '../store/callback-store.js';
import { type Listing, watchAttention } from './attention.js';
import { SCHEMA_URL } from './attributes.js';
import { watchCallbacks } from './callbacks.js';
import { watchCalls } from './calls.js';

/** Options of `instrumentMerchantPayments`. */
export interface InstrumentationOptions {
  /**
   * Creates the spans.
   * @default the global one
   */
  tracerProvider?: TracerProvider | undefined;
  /**
   * Creates the metrics.
   * @default the global one, which the SDK must have set by then
   */
  meterProvider?: MeterProvider | undefined;
  /**
   * The store whose `attention()` is counted at each collection of metrics: what needs a person, by its kind.
   * @default none
   */
  store?: Pick<Required<CallbackStore>, 'attention'> | undefined;
}

const instrumentationRules = {
  tracerProvider: optional(withMethods<TracerProvider>('a TracerProvider', 'getTracer')),
  meterProvider: optional(withMethods<MeterProvider>('a MeterProvider', 'getMeter')),
  store: optional(
    withMethods<Listing>('a store: postgresStore(pool), sqliteStore(database), …', 'attention'),
  ),
} satisfies OptionRules<InstrumentationOptions>;

/**
 * Records OpenTelemetry spans and metrics for all clients and receivers of the process, from their
 * diagnostics channels. Call it after starting the SDK. A second call with the same providers, by a plugin or a hot
 * reload, records nothing twice. Attributes follow OpenTelemetry's semantic
 * conventions for HTTP, version 1.45.0.
 *
 * - A CLIENT span for each call, below the caller's span, with the number of resends. It is active while the
 *   call runs.
 * - A span for each callback: INTERNAL below the HTTP server's span if there is one, otherwise SERVER. It is
 *   active while `onPayment` runs.
 * - Counters and histograms for both, by outcome and code.
 * - Gauges for what needs a person, by kind, if `store` is set.
 *
 * An error in the instrumentation or in the SDK affects no call and no callback.
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
export function instrumentMerchantPayments(options: InstrumentationOptions = {}): {
  /** Stops recording spans and metrics. Can be called more than once. */
  disable(): void;
} {
  const { tracerProvider, meterProvider, store } = resolveOptions(options, instrumentationRules);
  const scope = ['merchant-payments', version, { schemaUrl: SCHEMA_URL }] as const;
  const traces = tracerProvider ?? trace.getTracerProvider();
  const meters = meterProvider ?? metrics.getMeterProvider();
  const tracer = traces.getTracer(...scope);
  const meter = meters.getMeter(...scope);
  const stops = [
    shareBetween(traces, meters, () => [watchCalls(tracer, meter), watchCallbacks(tracer, meter)]),
    ...(store === undefined ? [] : [watchAttention(meter, store)]),
  ];
  return {
    disable() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

// Of the process, since it may hold the package twice, as ES modules and as CommonJS.
const KEY = Symbol.for('merchant-payments.recordings');
const global = globalThis as { [KEY]?: Recording[] };

interface Recording {
  readonly traces: TracerProvider;
  readonly meters: MeterProvider;
  readonly stops: readonly (() => void)[];
  users: number;
}

/** Starts to record unless these providers do already. Returns a function that ends it, when it is the last user. */
export function shareBetween(
  traces: TracerProvider,
  meters: MeterProvider,
  start: () => readonly (() => void)[],
): () => void {
  global[KEY] ??= [];
  const all = global[KEY];
  const known = all.find((one) => one.traces === traces && one.meters === meters);
  const recording = known ?? { traces, meters, stops: start(), users: 0 };
  if (known === undefined) all.push(recording);
  recording.users += 1;
  return () => {
    recording.users -= 1;
    if (recording.users > 0) return;
    all.splice(all.indexOf(recording), 1);
    for (const stop of recording.stops) stop();
  };
}
