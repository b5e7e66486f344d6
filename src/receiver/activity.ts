import { within } from '../protocol/within.js';

/** Counts running work, so that a process can wait for it before it exits. */
export class Activity {
  #running = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves as soon as no work is running. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** As {@link idle}, for a limited time. */
  async idleWithin(limitMs: number): Promise<void> {
    await within(limitMs, this.idle(), () => undefined);
  }
}
