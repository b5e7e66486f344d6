import type { Backend, FailedRow } from '../backend.js';
import type { ChangeName } from '../change.js';
import { isPaidByAnother } from '../order-steps.js';
import type {
  Claim,
  Claimed,
  Cursor,
  Decided,
  Decision,
  DueKind,
  Listed,
  ListKind,
  Order,
  Page,
  PaymentRow,
  Recorded,
  Recording,
  Result,
  SecondRow,
  ServiceRecord,
} from '../payment-row.js';
import {
  type KeyedRow,
  parseFailedRow,
  parseOne,
  parseOwnedRow,
  parseSecondRow,
  unknownRow,
} from '../rows.js';
import * as steps from '../steps.js';
import { ChangeStatements } from './change-statements.js';
import type { Dialect } from './dialect.js';
import { PaymentStatements } from './payment-statements.js';
import { type SqlSession, type Step, walk } from './session.js';
import { Sql } from './sql.js';
import { SqlOrders, toStored } from './sql-orders.js';
import { databaseForms } from './stored-forms.js';
import { type Batch, ENDED, type Names, type Sweep, Sweeps } from './sweeps.js';
import { added, finished } from './written-rows.js';

const AT_ONCE = 200;

interface SqlBackendOptions<Tx> {
  readonly session: SqlSession<Tx>;
  readonly dialect: Dialect;
  /** Processes a change, which depends on whether the engine's work runs in a transaction. */
  readonly process: Backend<Tx>['process'];
  readonly needsTransaction: boolean;
}

/** The tables of a store in any SQL database. A step locks its row, and steps.ts decides. */
export class SqlBackend<Tx> implements Backend<Tx> {
  readonly forms = databaseForms;
  readonly needsTransaction: boolean;
  readonly process: Backend<Tx>['process'];
  readonly #session: SqlSession<Tx>;
  readonly #payments: PaymentStatements;
  readonly #changes: ChangeStatements;
  readonly #orders: SqlOrders;
  readonly #sweeps: Sweeps;

  constructor({ session, dialect, process, needsTransaction }: SqlBackendOptions<Tx>) {
    this.#session = session;
    this.process = process;
    this.needsTransaction = needsTransaction;
    const sql = new Sql(dialect);
    this.#payments = new PaymentStatements(sql);
    this.#changes = new ChangeStatements(dialect);
    this.#orders = new SqlOrders(sql);
    this.#sweeps = new Sweeps(sql);
  }

  setup(): Promise<void> {
    return this.#session.setup();
  }

  async claim(claim: Claim): Promise<Claimed> {
    const { intent } = claim;
    // The usual case, in one message.
    const isAdded =
      intent !== undefined && (await this.#session.change(this.#payments.add(claim, intent)));
    if (isAdded) return { granted: true, stored: added(intent) };
    return this.#session.run(() => this.#claimStep(claim));
  }

  *#claimStep(claim: Claim): Step<Claimed> {
    const { key, intent } = claim;
    if (intent !== undefined) yield this.#payments.insert(key, intent);
    const found = yield* this.#orders.lock(key);
    if (found === undefined) return { granted: false, stored: undefined };
    const { row } = found;
    if (row.order !== undefined && isPaidByAnother(row, yield* this.#orders.paidBy(row), claim)) {
      const refused = row.state === 'recorded' ? ({ state: 'rejected' } as const) : undefined;
      return { granted: false, stored: yield* this.#orders.change(found, refused), isPaid: true };
    }
    const change = steps.claim(row, claim, found.nowMs);
    const stored = yield* this.#orders.change(found, change);
    return { granted: change?.state === 'sending', stored };
  }

  record(recording: Recording, tx: Tx | undefined): Promise<Recorded> {
    const step = () => this.recordStep(recording);
    return tx === undefined ? this.#session.run(step) : this.#session.runIn(tx, step);
  }

  recordStep(recording: Recording): Step<Recorded> {
    return this.#orders.record(recording);
  }

  readOrder(key: string): Promise<Order | undefined> {
    return walk(
      () => this.#orders.read(key),
      (statement) => this.#session.read(statement),
    );
  }

  async finish(
    key: string,
    owner: string,
    result: Result,
    claimed: PaymentRow | undefined,
  ): Promise<PaymentRow | undefined> {
    const isFinished =
      claimed && (await this.#session.change(this.#payments.finish(key, owner, result)));
    if (isFinished === undefined) {
      return this.#session.run(() => this.#finishStep(key, owner, result));
    }
    return isFinished ? finished(claimed as PaymentRow, result) : undefined;
  }

  *#finishStep(key: string, owner: string, result: Result): Step<PaymentRow | undefined> {
    const found = yield* this.#orders.lock(key);
    if (found?.row.owner !== owner) return undefined;
    return yield* this.#orders.change(found, steps.end(result));
  }

  settle(key: string, serviceRecord: ServiceRecord): Promise<void> {
    return this.#session.run(() => this.#settleStep(key, serviceRecord));
  }

  *#settleStep(key: string, serviceRecord: ServiceRecord): Step<void> {
    const { referenceNumber = '' } = serviceRecord;
    // Not a change, but it settles the payment as one does.
    const answer = { merchantPaymentReference: key, referenceNumber, key: '', serviceRecord };
    const [lock, read] = this.#changes.claim(answer);
    yield lock;
    const seen = yield* this.#changes.see(answer, yield read);
    if (seen === undefined) throw unknownRow();
    const told = { serviceRecord, isPaid: false };
    const settled = steps.settle(seen.row, told, { isOld: true, second: seen.second });
    for (const statement of this.#changes.settle(answer, { settled })) yield statement;
  }

  decide(key: string, decision: Decision): Promise<Decided> {
    const ifNone: Decided = { outcome: 'unknown' };
    return this.#changeOne(key, ifNone, ({ row, nowMs }) => {
      const { decided, change } = steps.decide(row, decision, nowMs);
      return { change, result: decided };
    });
  }

  look(key: string, look: steps.Look): Promise<boolean> {
    return this.#changeOne(key, false, ({ row, nowMs }) => {
      const change = steps.look(row, look, nowMs);
      return { change, result: change !== undefined };
    });
  }

  stopWaiting(key: string, attempts: number): Promise<boolean> {
    return this.#changeOne(key, false, ({ row }) => {
      const change = steps.stopWaiting(row, attempts);
      return { change: change || undefined, result: change === false };
    });
  }

  /** Locks a payment, and changes it as `decide` says. */
  #changeOne<Result>(
    key: string,
    ifNone: Result,
    decide: (found: KeyedRow) => { change: steps.RowChange | undefined; result: Result },
  ): Promise<Result> {
    const orders = this.#orders;
    return this.#session.run(function* (): Step<Result> {
      const found = yield* orders.lock(key);
      if (found === undefined) return ifNone;
      const { change, result } = decide(found);
      if (change !== undefined) yield* orders.change(found, change);
      return result;
    });
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const [found] = await this.#session.read(this.#payments.read(key));
    return found === undefined ? undefined : toStored(parseOwnedRow(found));
  }

  expire(): Promise<number> {
    return this.#inBatches(Number.MAX_SAFE_INTEGER, this.#sweeps.expired);
  }

  list(kind: ListKind, page: Page): Promise<readonly Listed[]> {
    const time = kind === 'unresolved' ? 'sentAtMs' : 'changedAtMs';
    return this.#list(this.#payments.list(kind, page), time);
  }

  listDue(
    kind: DueKind,
    lifetimeMs: number,
    page: Omit<Page, 'olderThanMs'>,
  ): Promise<readonly Listed[]> {
    return this.#list(this.#payments.listDue(kind, lifetimeMs, page), 'sentAtMs');
  }

  async #list(statement: string, time: 'sentAtMs' | 'changedAtMs'): Promise<readonly Listed[]> {
    return (await this.#session.read(statement)).map((json) => toListed(json, time));
  }

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    return (await this.#session.read(this.#changes.listSecond(page))).map(parseSecondRow);
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const rows = await this.#session.read(this.#changes.listFailed(page, referenceNumber));
    return rows.map(parseFailedRow);
  }

  forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean> {
    const lock = this.#changes.lockSecond(key, referenceNumber);
    const forget = this.#changes.forgetSecond(key, referenceNumber);
    return this.#session.run(() => forgetIf(isSame, lock, forget));
  }

  forgetFailed(name: ChangeName, attempts: number): Promise<boolean> {
    const lock = this.#changes.lockFailed(name);
    const forget = this.#changes.forgetFailed(name);
    const isSame = (stored: string) => stored === String(attempts);
    return this.#session.run(() => forgetIf(isSame, lock, forget));
  }

  async prune(beforeMs: number): Promise<number> {
    const sweeps = this.#sweeps;
    await this.#inBatches(beforeMs, sweeps.bodies(beforeMs));
    let count = await this.#inBatches(beforeMs, sweeps.changes);
    for (const state of ENDED) count += await this.#inBatches(beforeMs, sweeps.ended(state));
    return count + (await this.#pruneOrders(beforeMs));
  }

  /** Orders with further attempts, of which all rows go or none. */
  async #pruneOrders(beforeMs: number): Promise<number> {
    const condition = this.#sweeps.isReplaced(beforeMs);
    let count = 0;
    for (let after: Cursor | undefined; ; ) {
      const page = { olderThanMs: 0, after, limit: AT_ONCE };
      const statement = this.#payments.listed(condition, page, 'changed_at_ms');
      const firsts = await this.#list(statement, 'changedAtMs');
      for (const { key } of firsts) {
        count += await this.#session.run(() => this.#orders.prune(key, beforeMs));
      }
      if (firsts.length < AT_ONCE) return count;
      after = firsts.at(-1)?.place;
    }
  }

  async #inBatches(beforeMs: number, sweep: Sweep): Promise<number> {
    for (let [total, fromMs] = [0, 0]; ; ) {
      const batch = { fromMs, beforeMs, limit: AT_ONCE };
      const { count, lastMs } = await this.#session.run(() => changeBatch(sweep, batch));
      total += count;
      fromMs = lastMs;
      if (count < AT_ONCE) return total;
      // SQLite answers at once, and would let nothing else run in between.
      await new Promise(setImmediate);
    }
  }
}

/** Returns whether the row has changed, and was kept. */
function* forgetIf(
  isSame: (stored: string) => boolean,
  lock: string,
  forget: string,
): Step<boolean> {
  const stored = parseOne((yield lock)[0]);
  if (stored === undefined) return false;
  if (!isSame(stored)) return true;
  yield forget;
  return false;
}

function* changeBatch(
  { lock, change }: Sweep,
  batch: Batch,
): Step<{ readonly count: number; readonly lastMs: number }> {
  const rows = (yield lock(batch)).map((json) => JSON.parse(json) as [atMs: number, ...Names]);
  if (rows.length > 0) yield change(rows.map(([, ...names]) => names));
  return { count: rows.length, lastMs: Number(rows.at(-1)?.[0]) };
}

function toListed(json: string, time: 'sentAtMs' | 'changedAtMs'): Listed {
  const found = parseOwnedRow(json);
  const { key, row, nowMs } = found;
  const place = { atMs: row[time] ?? 0, names: [key] };
  return { key, place, stored: toStored(found) as PaymentRow, listedAtMs: nowMs };
}
