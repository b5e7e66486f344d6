import {
  isPaidByAnother,
  type NewAttempt,
  nextAttempt,
  type OrderRow,
  referenceOf,
  refuse,
  toOrder,
  replaced as toReplaced,
} from './order-steps.js';
import type {
  Claim,
  Claimed,
  Decided,
  Decision,
  Intent,
  Order,
  PaymentRow,
  Recorded,
  Recording,
  Result,
  StoredForms,
} from './payment-row.js';
import * as steps from './steps.js';

/**
 * A step of a store in one transaction: yields each statement, and receives the text in each row of its answer. A
 * generator, so that the same code runs across awaits on a server's connection, and at once on SQLite's and in memory.
 */
export type Step<Value> = Generator<string, Value, readonly string[]>;

/** A part of a step, which in memory has its result without a statement. */
export type StepPart<Value> = Iterable<string, Value, readonly string[]>;

/** A row of payments. */
export interface KeyedRow {
  readonly key: string;
  readonly row: steps.OwnedRow;
  /** The store's time, in epoch milliseconds. */
  readonly nowMs: number;
}

/** The rows of payments, as a step reads and changes them. */
export interface PaymentRows {
  readonly forms: StoredForms;
  /** Reads a row without a lock; undefined if there is none. */
  see(key: string): StepPart<KeyedRow | undefined>;
  /** Reads the current row, and locks it until the step ends. */
  lock(key: string): StepPart<KeyedRow | undefined>;
  /** Stores an intent as `recorded` if nothing is stored, and locks the row. `order` is that of a later attempt. */
  insert(key: string, intent: Intent, order?: string): StepPart<unknown>;
  /** Changes a row that is locked. */
  change(key: string, change: steps.RowChange): StepPart<unknown>;
}

/** The steps about payments and the attempts at an order, for every store. Each locks its row, and steps.ts decides. */
export class PaymentSteps {
  readonly #rows: PaymentRows;

  constructor(rows: PaymentRows) {
    this.#rows = rows;
  }

  *claim(claim: Claim): Step<Claimed> {
    const { key, intent } = claim;
    if (intent !== undefined) yield* this.#rows.insert(key, intent);
    const found = yield* this.#rows.lock(key);
    if (found === undefined) return { granted: false, stored: undefined };
    const { row, nowMs } = found;
    if (row.order !== undefined && isPaidByAnother(row, yield* this.#paidBy(row), claim)) {
      const refused = row.state === 'recorded' ? ({ state: 'rejected' } as const) : undefined;
      return { granted: false, stored: yield* this.#change(found, refused), isPaid: true };
    }
    const change = steps.claim(row, claim, nowMs);
    const stored = yield* this.#change(found, change);
    return { granted: change?.state === 'sending', stored };
  }

  *record({ key, intent, replaces, declined }: Recording): Step<Recorded> {
    const wanted = { key, intent };
    if (replaces !== undefined) return yield* this.#replace(replaces, wanted);
    const order = declined && (yield* this.readOrder(key));
    if (declined === undefined || order === undefined) return yield* this.#recordOne(wanted);
    const meant = nextAttempt(order, wanted, declined, this.#rows.forms);
    if (meant.is === 'paid') return { ...meant.attempt, intent: undefined };
    if (meant.is === 'open') return yield* this.#recordOne(meant.attempt);
    for (let number = order.count + 1; ; number += 1) {
      const recorded = yield* this.#replace(meant.replaces, meant.toAttempt(number));
      if (recorded.refused !== 'in-use') return recorded;
    }
  }

  *#recordOne({ key, intent }: NewAttempt): Step<Recorded> {
    yield* this.#rows.insert(key, intent);
    const found = (yield* this.#rows.lock(key)) as KeyedRow;
    const change = steps.record(found.row, intent, found.nowMs);
    return { key, intent, stored: yield* this.#change(found, change) };
  }

  /** Records an attempt that replaces another one. Its own row is locked only before the order's, or when it is new. */
  *#replace(replaces: string, attempt: NewAttempt): Step<Recorded> {
    const rows = this.#rows;
    const { key, intent } = attempt;
    const replaced = rows.forms.toName(replaces);
    const by = JSON.stringify(referenceOf(intent));
    if ((yield* rows.see(key)) !== undefined) {
      const isDone = (yield* rows.see(replaced))?.row.replacedBy === by;
      return isDone ? yield* this.#recordOne(attempt) : { ...attempt, refused: 'in-use' };
    }
    const old = yield* rows.lock(replaced);
    if (old === undefined) return { ...attempt, refused: 'unknown' };
    const { row, nowMs } = old;
    // The same call was faster, which a transaction with an older snapshot does not see.
    if (row.replacedBy === by) return attempt;
    const refused = refuse(row, yield* this.#paidBy(row), nowMs);
    if (refused !== undefined) return { ...attempt, refused, replacedBy: row.replacedBy };
    const order = row.order ?? JSON.stringify(replaces);
    yield* rows.insert(key, intent, order);
    if ((yield* rows.lock(key))?.row.order !== order) return { ...attempt, refused: 'in-use' };
    yield* this.#change(old, toReplaced(row, by));
    return attempt;
  }

  /** The payment that has paid the order of an attempt. Locks the order of a later one. */
  *#paidBy({ order, paidBy }: steps.OwnedRow): Step<string | undefined> {
    if (order === undefined) return paidBy;
    return (yield* this.#rows.lock(this.#keyOf(order)))?.row.paidBy;
  }

  *readOrder(first: string): Step<Order | undefined> {
    const rows: OrderRow[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const found: KeyedRow | undefined = yield* this.#rows.see(key);
      const stored = found && steps.visible(found.row, found.nowMs);
      if (found === undefined || stored === undefined) return undefined;
      const row: steps.OwnedRow = found.row;
      rows.push({ key, row, stored });
      key = row.replacedBy === undefined ? undefined : this.#keyOf(row.replacedBy);
    }
    return toOrder(rows);
  }

  *finish(key: string, owner: string, result: Result): Step<PaymentRow | undefined> {
    const found = yield* this.#rows.lock(key);
    if (found?.row.owner !== owner) return undefined;
    return yield* this.#change(found, steps.end(result));
  }

  *decide(key: string, decision: Decision): Step<Decided> {
    const found = yield* this.#rows.lock(key);
    if (found === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.decide(found.row, decision, found.nowMs);
    yield* this.#change(found, change);
    return decided;
  }

  *look(key: string, look: steps.Look): Step<boolean> {
    const found = yield* this.#rows.lock(key);
    const change = found && steps.look(found.row, look, found.nowMs);
    if (found !== undefined) yield* this.#change(found, change);
    return change !== undefined;
  }

  *stopWaiting(key: string, attempts: number): Step<boolean> {
    const found = yield* this.#rows.lock(key);
    const change = found && steps.stopWaiting(found.row, attempts);
    if (found !== undefined && change) yield* this.#change(found, change);
    return change === false;
  }

  /** Returns what is then stored. */
  *#change({ key, row, nowMs }: KeyedRow, made: steps.RowChange | undefined): Step<PaymentRow> {
    const change = made && { changedAtMs: nowMs, ...made };
    if (change !== undefined) yield* this.#rows.change(key, change);
    return steps.visible({ ...row, ...change }, nowMs) as PaymentRow;
  }

  /** The key of a reference that is stored as JSON. */
  #keyOf(reference: string): string {
    return this.#rows.forms.toName(JSON.parse(reference));
  }
}
