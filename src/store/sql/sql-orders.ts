import {
  type NewAttempt,
  nextAttempt,
  type OrderRow,
  referenceOf,
  refuse,
  toOrder,
  replaced as toReplaced,
} from '../order-steps.js';
import type { Order, PaymentRow, Recorded, Recording } from '../payment-row.js';
import { type KeyedRow, parseOne, parseOwnedRow } from '../rows.js';
import * as steps from '../steps.js';
import { PaymentStatements } from './payment-statements.js';
import type { Step } from './session.js';
import type { Sql } from './sql.js';
import { databaseForms, keyOf } from './stored-forms.js';
import { Sweeps } from './sweeps.js';

/** The steps about the rows of payments, and of the attempts at an order. */
export class SqlOrders {
  readonly #payments: PaymentStatements;
  readonly #sql: Sql;
  readonly #sweeps: Sweeps;

  constructor(sql: Sql) {
    this.#payments = new PaymentStatements(sql);
    this.#sql = sql;
    this.#sweeps = new Sweeps(sql);
  }

  *record({ key, intent, replaces, declined }: Recording): Step<Recorded> {
    const wanted = { key, intent };
    if (replaces !== undefined) return yield* this.#replace(replaces, wanted);
    const order = declined && (yield* this.read(key));
    if (declined === undefined || order === undefined) return yield* this.#recordOne(wanted);
    const meant = nextAttempt(order, wanted, declined, databaseForms);
    if (meant.is === 'paid') return { ...meant.attempt, intent: undefined };
    if (meant.is === 'open') return yield* this.#recordOne(meant.attempt);
    for (let number = order.count + 1; ; number += 1) {
      const recorded = yield* this.#replace(meant.replaces, meant.toAttempt(number));
      if (recorded.refused !== 'in-use') return recorded;
    }
  }

  *#recordOne({ key, intent }: NewAttempt): Step<Recorded> {
    yield this.#payments.insert(key, intent);
    const found = (yield* this.lock(key)) as KeyedRow;
    const change = steps.record(found.row, intent, found.nowMs);
    return { key, intent, stored: yield* this.change(found, change) };
  }

  /** Records an attempt that replaces another one. Its own row is locked only before the order's, or when it is new. */
  *#replace(replaces: string, attempt: NewAttempt): Step<Recorded> {
    const { key, intent } = attempt;
    const replaced = databaseForms.toName(replaces);
    const by = JSON.stringify(referenceOf(intent));
    const taken = yield* this.#see(key);
    if (taken !== undefined) {
      const isDone = (yield* this.#see(replaced))?.row.replacedBy === by;
      return isDone ? yield* this.#recordOne(attempt) : { ...attempt, refused: 'in-use' };
    }
    const old = yield* this.lock(replaced);
    if (old === undefined) return { ...attempt, refused: 'unknown' };
    const { row, nowMs } = old;
    // The same call was faster, which a transaction with an older snapshot does not see.
    if (row.replacedBy === by) return attempt;
    const paidBy = row.order === undefined ? row.paidBy : yield* this.paidBy(row);
    const refused = refuse(row, paidBy, nowMs);
    if (refused !== undefined) return { ...attempt, refused, replacedBy: row.replacedBy };
    const order = row.order ?? JSON.stringify(replaces);
    yield this.#payments.insert(key, intent, order);
    const own = yield* this.lock(key);
    if (own?.row.order !== order) return { ...attempt, refused: 'in-use' };
    yield* this.change(old, toReplaced(row, by));
    return attempt;
  }

  /** Locks the order of a later attempt, and returns the payment that has paid it. */
  *paidBy({ order }: steps.OwnedRow): Step<string | undefined> {
    const first = yield* this.lock(keyOf(order as string));
    return first?.row.paidBy;
  }

  *read(first: string): Step<Order | undefined> {
    const rows: OrderRow[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const found: KeyedRow | undefined = yield* this.#see(key);
      const stored = found && toStored(found);
      if (found === undefined || stored === undefined) return undefined;
      const row: steps.OwnedRow = found.row;
      rows.push({ key, row, stored });
      key = row.replacedBy === undefined ? undefined : keyOf(row.replacedBy);
    }
    return toOrder(rows);
  }

  *prune(first: string, beforeMs: number): Step<number> {
    const keys: string[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const [json] = yield this.#sweeps.lockAttempt(key, beforeMs);
      if (json === undefined) return 0;
      keys.push(key);
      const replacedBy = parseOne(json);
      key = replacedBy === undefined ? undefined : keyOf(replacedBy);
    }
    yield this.#sweeps.delete(keys);
    return keys.length;
  }

  /** Returns undefined if there is no such payment. */
  *lock(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield this.#payments.lock(key));
  }

  /** Returns what is then stored. */
  *change({ key, row, nowMs }: KeyedRow, change: steps.RowChange | undefined): Step<PaymentRow> {
    const changed = change === undefined ? row : { ...row, changedAtMs: nowMs, ...change };
    if (change !== undefined) yield this.#sql.change(key, { changedAtMs: nowMs, ...change });
    return steps.visible(changed, nowMs) as PaymentRow;
  }

  /** The same without a lock. */
  *#see(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield this.#payments.read(key));
  }
}

function parseFirst([json]: readonly string[]): KeyedRow | undefined {
  return json === undefined ? undefined : parseOwnedRow(json);
}

export function toStored({ row, nowMs }: KeyedRow): PaymentRow | undefined {
  return steps.visible(row, nowMs);
}
