const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The part of `process` that is about signals. */
export interface StoppableProcess {
  readonly pid?: number;
  on(signal: keyof typeof EXIT_CODES, listener: () => void): unknown;
  off(signal: keyof typeof EXIT_CODES, listener: () => void): unknown;
  exit(code: number): void;
}

// The system ends a process for SIGHUP, unless nohup started it. The first process of a container it does not end.
const stopSignals = ({ pid }: StoppableProcess) =>
  pid === 1 ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : (['SIGINT', 'SIGTERM'] as const);

/**
 * Runs `work` with a signal that SIGINT and SIGTERM abort, so that it can report how it ended. A second
 * SIGINT or SIGTERM ends the process at once.
 */
export async function interruptible<Result>(
  signals: StoppableProcess,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abortion = new AbortController();
  const unlisten = () => {
    for (const signal of stopSignals(signals)) signals.off(signal, stop);
  };
  const stop = () => {
    // Without a listener, Node ends the process at the next signal, in case `work` takes long to end.
    unlisten();
    abortion.abort();
  };
  for (const signal of stopSignals(signals)) signals.on(signal, stop);
  try {
    return await work(abortion.signal);
  } finally {
    unlisten();
  }
}

/** Waits for SIGINT, for SIGTERM, or until `stdout` is no longer read. */
export function untilStopped(
  running: StoppableProcess,
  stdout: { once(event: 'error', listener: () => void): unknown },
): {
  readonly stopped: Promise<void>;
  /** Settles `stopped`. */
  readonly stop: () => void;
  /** Removes the listeners. Between `stopped` and this call, a signal ends the process at once. */
  readonly release: () => void;
} {
  let isStopping = false;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = () => {
      isStopping = true;
      resolve();
    };
  });
  const listeners = stopSignals(running).map((signal) => {
    // Closing should be quick. If it hangs, a second Ctrl-C must still work.
    const listener = () => (isStopping ? running.exit(EXIT_CODES[signal]) : stop());
    running.on(signal, listener);
    return () => running.off(signal, listener);
  });
  stdout.once('error', stop);
  return {
    stopped,
    stop,
    release() {
      for (const unlisten of listeners) unlisten();
    },
  };
}
