/**
 * Runs `work` with a signal that SIGINT and SIGTERM abort, so that it can still say what became of it.
 * From then on another of them ends the process at once.
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abortion = new AbortController();
  const unlisten = () => process.off('SIGINT', stop).off('SIGTERM', stop);
  const stop = () => {
    // Without a listener Node ends the process: for the case that the end takes long.
    unlisten();
    abortion.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    return await work(abortion.signal);
  } finally {
    unlisten();
  }
}
