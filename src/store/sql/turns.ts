/**
 * Lets one action at a time run under a name; the others wait in order.
 *
 * Used for callbacks within a process: otherwise, many deliveries of one payment would each take a connection from the pool,
 * wait for the first, and the pool would have none left for other payments.
 */
export class Turns {
  /** Those that wait for the turn of each name that is taken. */
  readonly #queues = new Map<string, (() => void)[]>();

  /**
   * Takes the turn, which {@link leave} must give back.
   *
   * @returns undefined if it was free; else a promise of the rest of `timeoutMs` (at least 1), or of undefined if it was
   * not free in time, and is not taken
   */
  enter(name: string, timeoutMs: number): Promise<number | undefined> | undefined {
    const queue = this.#queues.get(name);
    if (queue !== undefined) return waitIn(queue, timeoutMs);
    this.#queues.set(name, []);
    return undefined;
  }

  leave(name: string): void {
    const next = this.#queues.get(name)?.shift();
    if (next === undefined) this.#queues.delete(name);
    else next();
  }
}

function waitIn(queue: (() => void)[], timeoutMs: number): Promise<number | undefined> {
  const queuedAtMs = performance.now();
  return new Promise((resolve) => {
    const proceed = (): void => {
      clearTimeout(timer);
      resolve(Math.max(1, timeoutMs - Math.ceil(performance.now() - queuedAtMs)));
    };
    const giveUp = (): void => {
      queue.splice(queue.indexOf(proceed), 1);
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    queue.push(proceed);
  });
}
