/**
 * Runs actions of the same name one at a time, in the order of arrival.
 *
 * Without it, ten deliveries of one slow change would hold ten connections, nine of them only to
 * wait for the first, and the pool would have none left for other payments.
 */
export class Turns {
  readonly #queues = new Map<string, (() => void)[]>();

  /**
   * Runs `action` in its turn, with the rest of `timeoutMs` (at least 1). Resolves with undefined, without running it,
   * if it had to wait longer than `timeoutMs`.
   */
  async take<Result>(
    name: string,
    timeoutMs: number,
    action: (leftMs: number) => Promise<Result>,
  ): Promise<Result | undefined> {
    let leftMs = timeoutMs;
    const queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, []);
    else {
      const queuedAtMs = performance.now();
      if (!(await waitInQueue(queue, timeoutMs))) return undefined;
      leftMs = Math.max(1, timeoutMs - Math.ceil(performance.now() - queuedAtMs));
    }
    try {
      return await action(leftMs);
    } finally {
      const next = this.#queues.get(name)?.shift();
      if (next === undefined) this.#queues.delete(name);
      else next();
    }
  }
}

function waitInQueue(queue: (() => void)[], timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const proceed = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const giveUp = (): void => {
      queue.splice(queue.indexOf(proceed), 1);
      resolve(false);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    queue.push(proceed);
  });
}
