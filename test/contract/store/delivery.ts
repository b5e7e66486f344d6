import { expect } from 'vitest';
import type {
  CallbackStore,
  ChangeOutcome,
  ChangeResult,
  StatusChange,
  StoreContext,
} from '../../../src/store/callback-store.js';
import { createGate } from '../gate.js';

type Facts = Pick<StoreContext<unknown>, 'current' | 'secondPayment'>;

/** One call of `process`, with its work. */
export class Delivery {
  /** How often the work was started. */
  runs = 0;
  /** The answer of `process`. Undefined until it has answered, and if it rejected. */
  answer: ChangeResult | undefined;
  /** The argument of the work. Undefined until the work has started. */
  context: StoreContext<unknown> | undefined;
  /** Resolves when the call has settled, either way. Never rejects. */
  readonly settled: Promise<void>;

  readonly #result: Promise<ChangeResult>;
  readonly #begun = createGate<StoreContext<unknown>>();
  readonly #end = createGate<void>();

  /** Calls `process` synchronously. The work runs until {@link complete} or {@link fail}. */
  constructor(store: CallbackStore<unknown>, change: StatusChange) {
    // Avoids an unhandled rejection if the work never runs.
    this.#end.promise.catch(() => undefined);
    this.#result = this.#process(store, change);
    this.settled = this.#result.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Waits until the work runs. */
  async begun(): Promise<StoreContext<unknown>> {
    const ended = this.#result.then(({ outcome }) => {
      throw new Error(`process answered '${outcome}' without running the work`);
    });
    return Promise.race([this.#begun.promise, ended]);
  }

  /** Makes the work complete, now or once it starts. */
  complete(): void {
    this.#end.open();
  }

  /** Makes the work fail, now or once it starts. */
  fail(error: unknown = new Error('The work failed, as this case intends')): void {
    this.#end.break(error);
  }

  /** Waits for the answer. It must be one of these, and the work must have run only for `processed`. */
  async answers(...expected: readonly ChangeOutcome[]): Promise<ChangeOutcome> {
    const { outcome } = await this.#result;
    expect(outcome).toBeOneOf([...expected]);
    const runs = outcome === 'processed' ? 1 : 0;
    expect(this.runs).toBe(runs);
    return outcome;
  }

  /** Waits for the answer. It must be `processed`, and the work must have run with these facts. */
  async runsWith(facts: Partial<Facts>): Promise<void> {
    await this.answers('processed');
    const { current, secondPayment = false } = this.context ?? {};
    expect({ current, secondPayment }).toMatchObject(facts);
  }

  /** Resolves with the error with which the work failed, or `process` rejects. */
  async rejects(): Promise<unknown> {
    let result: ChangeResult;
    try {
      result = await this.#result;
    } catch (error) {
      return error;
    }
    expect(result.outcome).toBe('failed');
    return result.error;
  }

  /** Asserts that there is no answer yet, or that it is `busy`. */
  assertHeldOff(): void {
    expect(this.runs).toBe(0);
    expect(this.answer?.outcome).toBeOneOf([undefined, 'busy']);
  }

  async #process(store: CallbackStore<unknown>, change: StatusChange): Promise<ChangeResult> {
    const result = await store.process(change, async (context) => {
      this.runs += 1;
      this.context = context;
      this.#begun.open(context);
      await this.#end.promise;
    });
    this.answer = result;
    return result;
  }
}
