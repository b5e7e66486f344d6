import type * as DiagnosticsChannel from 'node:diagnostics_channel';

interface ProcessLike {
  getBuiltinModule?(name: 'node:diagnostics_channel'): typeof DiagnosticsChannel | undefined;
}

// Not imported: some runtimes of the fetch adapter have no Node modules, and in a bundle for browsers the
// import of a client would fail before its constructor could say why there is none.
const { process } = globalThis as { process?: ProcessLike };
const diagnostics = process?.getBuiltinModule?.('node:diagnostics_channel');

/** A channel of this package's, where the runtime has such channels. */
export function openChannel<Trace extends object>(
  name: string,
): DiagnosticsChannel.TracingChannel<unknown, Trace> | undefined {
  return diagnostics?.tracingChannel<unknown, Trace>(name);
}

interface Channel {
  readonly hasSubscribers: boolean;
}

/** The part of a tracing channel that is looked at. */
export interface ListenedChannel {
  /** Missing on Bun. */
  readonly hasSubscribers?: boolean | undefined;
  readonly start: Channel;
  readonly end: Channel;
  readonly asyncStart: Channel;
  readonly asyncEnd: Channel;
  readonly error: Channel;
}

/** Whether one of a tracing channel's events has a listener. */
export function hasSubscribers(channel: ListenedChannel | undefined): boolean {
  if (channel === undefined) return false;
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return (
    channel.hasSubscribers ??
    [start, end, asyncStart, asyncEnd, error].some((event) => event.hasSubscribers)
  );
}

const RUN_WITHIN = Symbol.for('merchant-payments.runWithin');

/** Runs what it is given, once and at once. */
export type Runner = (work: () => void) => void;

interface Runnable {
  readonly [RUN_WITHIN]?: Runner;
}

/**
 * For a subscriber of a channel's `start`: has the work of which a trace tells run by `runner`, within a
 * span for example. A subscriber can't do so by itself, since it has returned before the work begins.
 */
export function runWithin(trace: object, runner: Runner): void {
  Object.defineProperty(trace, RUN_WITHIN, { value: runner, configurable: true });
}

/** Runs the work of which a trace tells, once whatever the runner does: it may send a payment. */
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
