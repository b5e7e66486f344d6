import type * as DiagnosticsChannel from 'node:diagnostics_channel';

interface ProcessLike {
  getBuiltinModule?(name: 'node:diagnostics_channel'): typeof DiagnosticsChannel | undefined;
}

// Not imported: some runtimes of the fetch adapter have no Node modules, and in a browser bundle the import
// would fail before the client's constructor could say why it refuses to run.
const { process } = globalThis as { process?: ProcessLike };
const diagnostics = process?.getBuiltinModule?.('node:diagnostics_channel');

/** Opens a tracing channel of this package; `undefined` if the runtime has none. */
export function openChannel<Trace extends object>(
  name: string,
): DiagnosticsChannel.TracingChannel<unknown, Trace> | undefined {
  return diagnostics?.tracingChannel<unknown, Trace>(name);
}

interface Channel {
  readonly hasSubscribers: boolean;
}

/** The part of a tracing channel that is used. */
export interface ListenedChannel {
  /** Missing on Bun. */
  readonly hasSubscribers?: boolean | undefined;
  readonly start: Channel;
  readonly end: Channel;
  readonly asyncStart: Channel;
  readonly asyncEnd: Channel;
  readonly error: Channel;
}

/** Whether any of a tracing channel's events has a subscriber. */
export function hasSubscribers(channel: ListenedChannel | undefined): boolean {
  if (channel === undefined) return false;
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return (
    channel.hasSubscribers ??
    [start, end, asyncStart, asyncEnd, error].some((event) => event.hasSubscribers)
  );
}

const RUN_WITHIN = Symbol.for('merchant-payments.runWithin');

/** Runs the given work once, synchronously. */
export type Runner = (work: () => void) => void;

interface Runnable {
  readonly [RUN_WITHIN]?: Runner;
}

/**
 * For subscribers of a channel's `start`: lets `runner` run the trace's work, for example within a span. A
 * subscriber can't run it itself, since it returns before the work begins.
 */
export function runWithin(trace: object, runner: Runner): void {
  Object.defineProperty(trace, RUN_WITHIN, {
    __proto__: null,
    value: runner,
    configurable: true,
  } as PropertyDescriptor);
}

/** Runs the trace's work exactly once, whatever the runner does: it may send a payment. */
export function runTraced<Result>(trace: object, work: () => Promise<Result>): Promise<Result> {
  let running: Promise<Result> | undefined;
  const runOnce = (): Promise<Result> => {
    running ??= work();
    return running;
  };
  try {
    (trace as Runnable)[RUN_WITHIN]?.(() => void runOnce());
  } catch {}
  return runOnce();
}
