import { VitestTestRunner } from 'vitest/runners';

/** Imports no more test files once a test has failed, and lets a file's failed hooks fail its tests. */
export default class StoppingRunner extends VitestTestRunner {
  #isOver = false;
  #files = [];
  #report;

  cancel(reason) {
    this.#isOver = true;
    super.cancel(reason);
  }

  async importFile(filepath, source) {
    if (!this.#isOver) await super.importFile(filepath, source);
  }

  onCollected(files) {
    this.#files.push(...files);
  }

  /** Vitest sets what reports the results. */
  set onTaskUpdate(report) {
    this.#report = report;
  }

  // Stryker takes a skipped test for one that a failed hook skipped only if the hook is that of a suite, not of a file.
  get onTaskUpdate() {
    const report = this.#report;
    return report && ((packs, events) => report(packs.map(this.#judge), events));
  }

  #judge = ([id, result, meta]) => {
    const file = this.#files.find((one) => id.startsWith(`${one.id}_`));
    const errors = file?.result?.errors ?? [];
    const isFailed = result?.state === 'skip' && errors.length > 0;
    return [id, isFailed ? { ...result, state: 'fail', errors } : result, meta];
  };
}
