/**
 * Runs actions of the same name one at a time, in the order of arrival.
 *
 * Without it, ten deliveries of one slow change would hold ten connections, nine of them only to
 * wait for the first, and the pool would have none left for other payments.
 */
export class Turns {
  readonly #queues = new Map<string, (() => void)[]>();

  /**
   * Runs `action` in its turn, with the rest of `timeoutMs` (at least 1). Its turn ends when
   * it settles, or earlier when it calls `leave`. Resolves with undefined, without running it, if it had to wait
   * longer than `timeoutMs`.
   */
  take<Result>(
    name: string,
    timeoutMs: number,
    action: (leftMs: number, leave: () => void) => Promise<Result>,
  ): Promise<Result | undefined> {
    const queue = this.#queues.get(name);
    if (queue !== undefined) return this.#takeAfter(queue, name, timeoutMs, action);
    this.#queues.set(name, []);
    return this.#run(name, timeoutMs, action);
  }

  async #takeAfter<Result>(
    queue: (() => void)[],
    name: string,
    timeoutMs: number,
    action: (leftMs: number, leave: () => void) => Promise<Result>,
  ): Promise<Result | undefined> {
    const queuedAtMs = performance.now();
    if (!(await waitInQueue(queue, timeoutMs))) return undefined;
    const waitedMs = Math.ceil(performance.now() - queuedAtMs);
    return this.#run(name, Math.max(1, timeoutMs - waitedMs), action);
  }

  async #run<Result>(
    name: string,
    leftMs: number,
    action: (leftMs: number, leave: () => void) => Promise<Result>,
  ): Promise<Result> {
    let isOver = false;
    const leave = (): void => {
      if (!isOver) this.#leave(name);
      isOver = true;
    };
    try {
      return await action(leftMs, leave);
    } finally {
      leave();
    }
  }

  #leave(name: string): void {
    const next = this.#queues.get(name)?.shift();
    if (next === undefined) this.#queues.delete(name);
    else next();
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
