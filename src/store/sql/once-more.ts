import { pause } from '../waiting.js';
import { wasNeverSent } from './server-errors.js';

const PAUSE_MS = 50;

/**
 * Runs `act`, and once more if its connection was dead: a pool can return one that has died unnoticed. `act` must do no
 * harm when it is done twice.
 */
export async function onceMore<Value>(
  act: (isRepeated: boolean) => Promise<Value>,
  isDead: (error: unknown) => boolean,
): Promise<Value> {
  try {
    return await act(false);
  } catch (error) {
    if (!isDead(error)) throw error;
    await letPoolHear();
    return act(true).catch((second) => {
      // The first one may have been done.
      throw wasNeverSent(second) ? error : second;
    });
  }
}

/** Gives the pool time to hear that a connection has died, and others with it, before it is asked for another one. */
export function letPoolHear(): Promise<void> {
  return pause(PAUSE_MS);
}
