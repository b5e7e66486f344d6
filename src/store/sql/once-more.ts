/**
 * Runs `act`, and once more if its connection was dead: a pool can return one that has died unnoticed. `act` must do no
 * harm when it is done twice.
 */
export async function onceMore<Value>(
  act: () => Promise<Value>,
  isDead: (error: unknown) => boolean,
): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    if (!isDead(error)) throw error;
    await otherLossesHeard();
    return act();
  }
}

/** The pool's other connections have often died with the first. It hears of them in this turn of the event loop. */
export function otherLossesHeard(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
