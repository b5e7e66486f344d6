import assert from 'node:assert/strict';
import type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';

/** One call of `process`, with the work it was given. */
export class Delivery {
  /** How often the work was begun. */
  runs = 0;
  /** What `process` answered. Undefined as long as it has not, and when it rejected. */
  answer: InboxOutcome | undefined;
  /** What the work was given, once it was begun. */
  context: InboxContext<unknown> | undefined;
  /** When the call has ended, either way. Never rejects. */
  readonly settled: Promise<void>;

  readonly #outcome: Promise<InboxOutcome>;
  readonly #begun = createGate<InboxContext<unknown>>();
  readonly #end = createGate<void>();

  /** Calls `process` before it returns. The work goes on until {@link complete} or {@link fail}. */
  constructor(inbox: CallbackInbox<unknown>, event: InboxEvent) {
    // Heard here too: work may be told to fail that nobody runs any more.
    this.#end.promise.catch(() => undefined);
    this.#outcome = this.#process(inbox, event);
    this.settled = this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Waits until the work runs. */
  async begun(): Promise<InboxContext<unknown>> {
    const ended = this.#outcome.then((outcome) => {
      assert.fail(`the work must run, but process answered '${outcome}' without running it`);
    });
    return Promise.race([this.#begun.promise, ended]);
  }

  /** Lets the work complete, now or when it is begun. */
  complete(): void {
    this.#end.open();
  }

  /** Lets the work fail, now or when it is begun. */
  fail(error: unknown = new Error('The work failed, as this case wants it to')): void {
    this.#end.break(error);
  }

  /** Waits for the answer, which must be one of these, with the work run just when it says so. */
  async answers(...expected: readonly InboxOutcome[]): Promise<InboxOutcome> {
    const outcome = await this.#outcome;
    if (!expected.includes(outcome)) {
      const wanted = expected.map((one) => `'${one}'`).join(' or ');
      assert.fail(`process must answer ${wanted}, but answered '${outcome}'`);
    }
    const runs = outcome === 'processed' ? 1 : 0;
    assert.equal(
      this.runs,
      runs,
      `process answered '${outcome}' and ran the work ${this.runs} times`,
    );
    return outcome;
  }

  /** Waits for the answer, which must be `processed`, with the work run under this `stale`. */
  async runsWith({ stale }: { stale: boolean }): Promise<void> {
    await this.answers('processed');
    const why = stale ? 'a newer change was processed before' : 'no newer change was processed';
    assert.equal(this.context?.stale, stale, `context.stale must be ${stale}: ${why}`);
  }

  /** Waits for the error with which `process` rejects. */
  async rejects(): Promise<unknown> {
    let outcome: InboxOutcome;
    try {
      outcome = await this.#outcome;
    } catch (error) {
      return error;
    }
    return assert.fail(`process must reject, but answered '${outcome}'`);
  }

  /** Whether the answer is still to come, or says that the payment is being processed. */
  assertHeldOff(): void {
    assert.equal(this.runs, 0, 'the work ran beside other work for the same payment');
    assert.ok(
      this.answer === undefined || this.answer === 'busy',
      `process answered '${this.answer}' before the work for the same payment had ended: only 'busy' is known by then`,
    );
  }

  async #process(inbox: CallbackInbox<unknown>, event: InboxEvent): Promise<InboxOutcome> {
    const outcome = await inbox.process(event, async (context) => {
      this.runs += 1;
      this.context = context;
      this.#begun.open(context);
      await this.#end.promise;
    });
    this.answer = outcome;
    return outcome;
  }
}

interface Gate<Value> {
  readonly promise: Promise<Value>;
  open(value: Value): void;
  break(error: unknown): void;
}

function createGate<Value>(): Gate<Value> {
  let open!: Gate<Value>['open'];
  let close!: Gate<Value>['break'];
  const promise = new Promise<Value>((resolve, reject) => {
    open = resolve;
    close = reject;
  });
  return { promise, open, break: close };
}
