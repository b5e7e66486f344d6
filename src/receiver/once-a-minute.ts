const INTERVAL_MS = 60_000;

/** Bounds what is written about something that anybody can repeat. */
export class OnceAMinute {
  #takenAtMs: number | undefined;
  #skipped = 0;

  /** How many were skipped since the last one that was taken; `undefined` for one to skip too. */
  take(): number | undefined {
    const nowMs = performance.now();
    if (this.#takenAtMs !== undefined && nowMs - this.#takenAtMs < INTERVAL_MS) {
      this.#skipped += 1;
      return undefined;
    }
    const skipped = this.#skipped;
    this.#takenAtMs = nowMs;
    this.#skipped = 0;
    return skipped;
  }
}
