const endedAlone = new WeakSet<object>();

/** Whether a transaction rejected with this error before it was asked to roll back. */
export function hasEndedAlone(error: unknown): boolean {
  return endedAlone.has(error as object);
}

/**
 * Runs `body` in a transaction of postgres.js, which is not asked to roll back once its connection is lost. postgres.js
 * would then write to the closed socket, which ends the process, or would wait for an answer to ROLLBACK on the next
 * connection, so that every later transaction there hangs.
 */
export async function keepOffLost<Tx>(
  begin: (kept: (tx: Tx) => Promise<void>) => Promise<unknown>,
  body: (tx: Tx) => Promise<void>,
): Promise<unknown> {
  let isOver = false;
  let isAsked = false;
  const kept = async (tx: Tx): Promise<void> => {
    try {
      await body(tx);
    } catch (error) {
      // A socket that breaks rejects its statement first, and the transaction when it closes: later in the same turn of
      // the event loop, but after the first immediates. The error may be that of the caller's code, so it can't tell.
      await nextTurn();
      await nextTurn();
      if (isOver) return new Promise(() => undefined);
      isAsked = true;
      throw error;
    }
  };
  try {
    return await begin(kept);
  } catch (error) {
    if (!isAsked && error instanceof Error) endedAlone.add(error);
    throw error;
  } finally {
    isOver = true;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
