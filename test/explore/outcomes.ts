import assert from 'node:assert/strict';
import { isPaid, newestOf, type Told } from './ledger.js';
import type { Limit, ProcessingScene } from './processing-scene.js';
import { tables } from './tables-in-sqlite.js';

/** `unknown`: the store has failed, or its process has lost its lease. `failed`: it has also kept the failure. */
export type Outcome = 'processed' | 'duplicate' | 'busy' | 'parked' | 'failed' | 'unknown';

/** What the deliveries were answered, and what must hold of it. */
export class Outcomes {
  readonly #changes: readonly Told[];
  readonly #scene: ProcessingScene;
  readonly #processed = new Set<string>();
  /** The changes that were answered with 200. */
  readonly #acknowledged = new Set<string>();
  /** The changes whose failure was kept, by an answer. */
  readonly #failed = new Set<string>();
  /** How often the work of each change was run. */
  readonly #runs = new Map<string, number>();
  /** Whether a callback that says `paid` has been heard. */
  #isHeardPaid = false;
  /** The payment that has paid the order. */
  #paidBy: unknown = null;

  constructor(changes: readonly Told[], scene: ProcessingScene) {
    this.#changes = changes;
    this.#scene = scene;
  }

  run({ key }: Told): void {
    this.#runs.set(key, (this.#runs.get(key) ?? 0) + 1);
  }

  /** Returns whether the service is answered with 200. */
  answer(change: Told, outcome: Outcome): boolean {
    const { key } = change;
    if (outcome === 'processed') {
      assert.ok(!this.#processed.has(key), 'two results of a change are accepted');
      this.#processed.add(key);
    }
    if (outcome === 'failed') this.#failed.add(key);
    if (outcome === 'busy' || outcome === 'unknown') return false;
    this.#isHeardPaid ||= isPaid(change);
    if (outcome === 'failed') return false;
    this.#acknowledged.add(key);
    return true;
  }

  /** The changes that are parked. */
  get parked(): readonly Told[] {
    const { failed_changes: rows } = tables.committed();
    return this.#changes.filter(({ key }) =>
      rows.some((row) => row['change_key'] === key && row['parked'] === 1),
    );
  }

  /** @param isIdle whether no work runs */
  check(isIdle: boolean): void {
    const rows = tables.committed();
    const keysOf = (table: 'changes' | 'failed_changes') =>
      rows[table].map((row) => String(row['change_key']));
    const processed = keysOf('changes');
    const done = rows.done.map((row) => String(row['key']));
    this.#checkFailed(processed, keysOf('failed_changes'));
    for (const key of processed) assert.ok(done.includes(key), 'processed, and not done');
    if (!this.#mayShow('done twice')) {
      assert.equal(new Set(done).size, done.length, 'a change is done twice');
    }
    const { paid_by: paidBy = null } = rows.payments[0] ?? {};
    this.#checkPayer(paidBy);
    if (isIdle && !this.#mayShow('older shown')) this.#checkShown(processed);
  }

  #checkFailed(processed: readonly string[], failed: readonly string[]): void {
    const isKnown = (key: string) => failed.includes(key) || processed.includes(key);
    for (const key of this.#acknowledged) {
      assert.ok(isKnown(key), 'an acknowledged change is neither done nor listed');
    }
    for (const key of this.#mayShow('failure lost') ? [] : this.#failed) {
      assert.ok(isKnown(key), 'a failure is not kept');
    }
    for (const key of failed) {
      assert.ok(!processed.includes(key), 'what is processed is listed as failed');
    }
    for (const { change_key: key, attempts, parked } of tables.committed().failed_changes) {
      const runs = this.#runs.get(String(key)) ?? 0;
      assert.ok(Number(attempts) <= runs, 'a failure is counted twice');
      const isParked = Number(attempts) >= (this.#scene.parkAfter ?? Number.POSITIVE_INFINITY);
      assert.equal(parked === 1, isParked, 'a change is not parked after so many failures');
    }
  }

  #mayShow(limit: Limit): boolean {
    return this.#scene.limits?.includes(limit) === true;
  }

  /** The first paid payment pays the order for good, whatever becomes of its work. */
  #checkPayer(paidBy: unknown): void {
    if (this.#paidBy !== null) assert.equal(paidBy, this.#paidBy, 'another payment pays the order');
    this.#paidBy = paidBy;
    assert.ok(!this.#isHeardPaid || paidBy !== null, 'what has paid the order is forgotten');
  }

  /** An order that follows `current` shows the newest processed change of the payment that has paid it. */
  #checkShown(processed: readonly string[]): void {
    const number = this.#paidBy ?? (this.#scene.payments.length === 1 ? 'payment-1' : null);
    const own = this.#changes.filter((one) => one.number === number && processed.includes(one.key));
    if (own.length === 0 || (!own.some(isPaid) && this.#paidBy !== null)) return;
    const shown = tables.committed().done.findLast(({ current }) => current === 1);
    assert.equal(shown?.['key'], newestOf(own)?.key, 'the order does not show the newest change');
  }

  state(): unknown {
    const sets = [this.#processed, this.#acknowledged, this.#failed];
    return [...sets.map((set) => [...set].sort()), [...this.#runs].sort(), this.#isHeardPaid];
  }
}
