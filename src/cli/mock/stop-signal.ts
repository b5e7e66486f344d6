const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** What {@link untilStopped} needs of the process. */
export interface StoppableProcess {
  on(signal: keyof typeof EXIT_CODES, listener: () => void): unknown;
  exit(code: number): void;
  readonly stdout: { once(event: 'error', listener: () => void): unknown };
}

/**
 * Settles when the user or the system asks the process to end, or nobody reads its output any more.
 * From then on a signal ends it at once.
 */
export function untilStopped(running: StoppableProcess): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = () => {
      isStopping = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Closing should take no time. Should it hang, the second Ctrl-C has to work all the same.
      running.on(signal, () => (isStopping ? running.exit(EXIT_CODES[signal]) : stop()));
    }
    running.stdout.once('error', stop);
  });
}
