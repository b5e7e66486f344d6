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

/** Whether a tracing channel has a subscriber. Bun does not say, so there it may have one. */
export function hasSubscribers(
  channel: { readonly hasSubscribers?: boolean | undefined } | undefined,
): boolean {
  return channel !== undefined && (channel.hasSubscribers ?? true);
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
