import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { FailedChangeStore } from '../store/failed-changes.js';
import type { PaymentOutbox } from '../store/outbox.js';
import {
  matching,
  type OptionRules,
  optional,
  type Resolved,
  withMethods,
} from '../protocol/options.js';

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
   * The outbox whose unresolved and second payments are counted at each collection of metrics.
   * @default none
   */
  outbox?: Pick<PaymentOutbox, 'unresolved' | 'secondPayments'> | undefined;
  /**
   * The inbox whose failed changes are counted at each collection of metrics. It must be one that keeps
   * them: memory, Postgres, MySQL or SQLite.
   * @default none
   */
  inbox?: Pick<FailedChangeStore, 'failedChanges'> | undefined;
}

/** What `instrumentMerchantPayments` returns. */
export interface Instrumentation {
  /** Stops recording spans and metrics. Can be called more than once. */
  disable(): void;
}

export const instrumentationRules = {
  tracerProvider: optional(withMethods<TracerProvider>('a TracerProvider', 'getTracer')),
  meterProvider: optional(withMethods<MeterProvider>('a MeterProvider', 'getMeter')),
  outbox: optional(
    withMethods<NonNullable<InstrumentationOptions['outbox']>>(
      'an outbox',
      'unresolved',
      'secondPayments',
    ),
  ),
  inbox: optional(
    matching<NonNullable<InstrumentationOptions['inbox']>>(
      'an inbox that keeps failed changes: postgresInbox, mysqlInbox, sqliteInbox or memoryInbox',
      (inbox: Partial<FailedChangeStore> | null) => typeof inbox?.failedChanges === 'function',
    ),
  ),
} satisfies OptionRules<InstrumentationOptions>;

export type ResolvedInstrumentation = Resolved<typeof instrumentationRules>;
