import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { type OptionRules, optional, type Resolved, withMethods } from '../protocol/options.js';
import type { CallbackStore } from '../store/callback-store.js';

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

export const instrumentationRules = {
  tracerProvider: optional(withMethods<TracerProvider>('a TracerProvider', 'getTracer')),
  meterProvider: optional(withMethods<MeterProvider>('a MeterProvider', 'getMeter')),
  store: optional(
    withMethods<NonNullable<InstrumentationOptions['store']>>(
      'a store: postgresStore(pool), sqliteStore(database), …',
      'attention',
    ),
  ),
} satisfies OptionRules<InstrumentationOptions>;

export type ResolvedInstrumentation = Resolved<typeof instrumentationRules>;
