/**
 * A signal that aborts with any of the given ones, or after a timeout. Not AbortSignal.any: on Node 20 its
 * signals may be garbage-collected while they are waited for, and the timeout never fires.
 */
export class JoinedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #abort = (): void => this.#controller.abort();
  /** Whether the timeout aborted it. */
  isOver = false;

  constructor(sources: readonly AbortSignal[], timeoutMs?: number) {
    this.#sources = sources;
    for (const source of sources) {
      if (source.aborted) this.#abort();
      source.addEventListener('abort', this.#abort);
    }
    if (timeoutMs === undefined) return;
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
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }
}
