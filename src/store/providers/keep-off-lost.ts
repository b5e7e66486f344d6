const endedAlone = new WeakSet<object>();
const settled = new WeakSet<object>();

/** Whether a transaction of {@link keepOffLost} has settled, so that a statement on it could end the process. */
export function hasSettled(tx: object): boolean {
  return settled.has(tx);
}

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
  let taken: Tx | undefined;
  const kept = async (tx: Tx): Promise<void> => {
    taken = tx;
    try {
      await body(tx);
    } catch (error) {
      // A socket that breaks rejects its statement first, and the transaction when it closes: later in the same turn of
      // the event loop, but after the first immediates. The error may be that of the caller's code, so it can't tell.
      await lossesHeard();
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
    if (taken !== undefined) settled.add(taken as object);
  }
}

/** Waits until a connection that broke during the last statement counts as broken. */
export async function lossesHeard(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
