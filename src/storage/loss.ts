export function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new Error('the driver rejected with no Error', { cause: reason });
}

/**
 * Whether a connection is lost, and why. What an AbortController does, at a fraction of the cost: the
 * signal is made when the work asks for it.
 */
export class Loss {
  #reason: Error | undefined;
  #controller: AbortController | undefined;
  #giveUp: ((reason: Error) => void) | undefined;

  /** Why; undefined as long as it is not lost. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Aborts with {@link reason}. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Takes the first reason; later ones follow from it. */
  report(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#giveUp?.(reason);
  }

  /**
   * Waits for `running` no longer than until the loss: it may hang, or wait for this connection. One
   * at a time.
   */
  orSettled<Result>(running: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      running.then(resolve, reject);
      if (this.#reason !== undefined) reject(this.#reason);
    });
  }
}
