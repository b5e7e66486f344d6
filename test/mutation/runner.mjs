import { VitestTestRunner } from 'vitest/runners';

/** Imports no more test files once a test has failed. */
export default class StoppingRunner extends VitestTestRunner {
  #isOver = false;

  cancel(reason) {
    this.#isOver = true;
    super.cancel(reason);
  }

  async importFile(filepath, source) {
    if (!this.#isOver) await super.importFile(filepath, source);
  }
}
