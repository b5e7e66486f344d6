import { pause } from '../waiting.js';

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
    await letPoolHear();
    return act();
  }
}

/** Gives the pool time to hear that a connection has died, and others with it, before it is asked for another one. */
export function letPoolHear(): Promise<void> {
  return pause(PAUSE_MS);
}

const PAUSE_MS = 50;
