import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

/** What records by a pair of providers. */
interface Recording {
  users: number;
  readonly stops: readonly (() => void)[];
}
type Recordings = WeakMap<TracerProvider, WeakMap<MeterProvider, Recording>>;

// Of the process, since it may hold the package twice, as ES modules and as CommonJS.
const KEY = Symbol.for('merchant-payments.recordings');
const global = globalThis as { [KEY]?: Recordings };

/** Starts to record unless these providers do already. Returns a function that ends it, when it is the last user. */
export function shareBetween(
  traces: TracerProvider,
  meters: MeterProvider,
  start: () => readonly (() => void)[],
): () => void {
  global[KEY] ??= new WeakMap();
  const byMeters = global[KEY].get(traces) ?? new WeakMap<MeterProvider, Recording>();
  global[KEY].set(traces, byMeters);
  const recording = byMeters.get(meters) ?? { users: 0, stops: start() };
  byMeters.set(meters, recording);
  recording.users += 1;
  return () => {
    recording.users -= 1;
    if (recording.users > 0) return;
    byMeters.delete(meters);
    for (const stop of recording.stops) stop();
  };
}
