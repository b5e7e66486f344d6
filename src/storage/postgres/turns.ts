/**
 * Runs actions of the same name one at a time, in the order of arrival.
 *
 * Without it ten deliveries of one slow change would hold ten connections, nine of them only to
 * wait for the first, and other payments would find the pool empty.
 */
export class Turns {
  readonly #queues = new Map<string, (() => void)[]>();

  /**
   * Runs `action` when its turn comes, with what is left of `timeoutMs` (1 at least). Gives
   * undefined, without having run it, when the turn does not come in time.
   */
  async take<Result>(
    name: string,
    timeoutMs: number,
    action: (leftMs: number) => Promise<Result>,
  ): Promise<Result | undefined> {
    const cameAtMs = performance.now();
    if (!(await this.#enter(name, timeoutMs))) return undefined;
    try {
      const waitedMs = Math.ceil(performance.now() - cameAtMs);
      return await action(Math.max(1, timeoutMs - waitedMs));
    } finally {
      this.#leave(name);
    }
  }

  #enter(name: string, timeoutMs: number): Promise<boolean> | true {
    const queue = this.#queues.get(name);
    if (queue === undefined) {
      this.#queues.set(name, []);
      return true;
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const giveUp = (): void => {
        queue.splice(queue.indexOf(enter), 1);
        resolve(false);
      };
      const timer = setTimeout(giveUp, timeoutMs);
      queue.push(enter);
    });
  }

  #leave(name: string): void {
    const next = this.#queues.get(name)?.shift();
    if (next === undefined) this.#queues.delete(name);
    else next();
  }
}
