/**
 * A signal that aborts with the source, or after a timeout. Not AbortSignal.any: on Node 20 its signals may be
 * garbage-collected while they are waited for, and the timeout never fires.
 */
export class DeadlineSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #source: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #abort = (): void => this.#controller.abort();
  /** Whether the timeout aborted it. */
  isOver = false;

  constructor(source: AbortSignal, timeoutMs: number) {
    this.#source = source;
    if (source.aborted) this.#abort();
    source.addEventListener('abort', this.#abort);
    this.#timer = setTimeout(() => {
      this.isOver = !this.signal.aborted;
      this.#abort();
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#source.removeEventListener('abort', this.#abort);
  }
}
