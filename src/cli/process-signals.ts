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
    signals.off('SIGINT', stop);
    signals.off('SIGTERM', stop);
  };
  const stop = () => {
    // Without a listener, Node ends the process at the next signal, in case `work` takes long to end.
    unlisten();
    abortion.abort();
  };
  signals.on('SIGINT', stop);
  signals.on('SIGTERM', stop);
  try {
    return await work(abortion.signal);
  } finally {
    unlisten();
  }
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** The part of `process` that is about signals. */
export interface StoppableProcess {
  on(signal: keyof typeof EXIT_CODES, listener: () => void): unknown;
  off(signal: keyof typeof EXIT_CODES, listener: () => void): unknown;
  exit(code: number): void;
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
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
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
