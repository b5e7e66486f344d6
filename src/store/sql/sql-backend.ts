import type { Backend, FailedRow } from '../backend.js';
import type { ChangeName, PaymentName } from '../change.js';
import { pagesOf } from '../list-attention.js';
import {
  type Claim,
  type Claimed,
  type Decided,
  type Decision,
  type DueKind,
  ENDED,
  type Intent,
  type Listed,
  type ListKind,
  type Order,
  type Page,
  type PaymentRow,
  type Recorded,
  type Recording,
  type Result,
  type SecondRow,
  type ServiceRecord,
} from '../payment-row.js';
import { PaymentSteps, type Step } from '../payment-steps.js';
import * as steps from '../steps.js';
import { ChangeStatements } from './change-statements.js';
import type { Dialect } from './dialect.js';
import { PaymentStatements } from './payment-statements.js';
import { parseFailedRow, parseOne, parseOwnedRow, parseSecondRow, unknownRow } from './rows.js';
import { databaseForms, keyOf, Sql } from './sql.js';
import { type Batch, type Names, type Sweep, Sweeps } from './sweeps.js';
import { type SqlSession, walk } from './transactions.js';

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
  readonly #steps: PaymentSteps;
  readonly #sweeps: Sweeps;

  constructor({ session, dialect, process, needsTransaction }: SqlBackendOptions<Tx>) {
    this.#session = session;
    this.process = process;
    this.needsTransaction = needsTransaction;
    const sql = new Sql(dialect);
    this.#payments = new PaymentStatements(sql);
    this.#changes = new ChangeStatements(dialect);
    this.#steps = new PaymentSteps(this.#payments);
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
    if (isAdded) return { granted: true, stored: added(claim, intent) };
    return this.#session.run(() => this.#steps.claim(claim));
  }

  record(recording: Recording, tx: Tx | undefined): Promise<Recorded> {
    const step = () => this.recordStep(recording);
    return tx === undefined ? this.#session.run(step) : this.#session.runIn(tx, step);
  }

  recordStep(recording: Recording): Step<Recorded> {
    return this.#steps.record(recording);
  }

  readOrder(key: string): Promise<Order | undefined> {
    return walk(
      () => this.#steps.readOrder(key),
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
      return this.#session.run(() => this.#steps.finish(key, owner, result));
    }
    return isFinished ? finished(claimed as PaymentRow, result) : undefined;
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
    return this.#session.run(() => this.#steps.decide(key, decision));
  }

  look(key: string, look: steps.Look): Promise<boolean> {
    return this.#session.run(() => this.#steps.look(key, look));
  }

  stopWaiting(key: string, attempts: number): Promise<boolean> {
    return this.#session.run(() => this.#steps.stopWaiting(key, attempts));
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const [found] = await this.#session.read(this.#payments.read(key));
    if (found === undefined) return undefined;
    const { row, nowMs } = parseOwnedRow(found);
    return steps.visible(row, nowMs);
  }

  expire(): Promise<number> {
    return this.#inBatches(Number.MAX_SAFE_INTEGER, this.#sweeps.expired);
  }

  list(kind: ListKind, page: Page): Promise<readonly Listed[]> {
    const time = kind === 'unresolved' ? 'sentAtMs' : 'changedAtMs';
    return this.#list(this.#payments.list(kind, page), time);
  }

  listDue(kind: DueKind, lifetimeMs: number, page: Page): Promise<readonly Listed[]> {
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

  forgetSecond(name: PaymentName, isSame: (payment: string) => boolean): Promise<boolean> {
    const lock = this.#changes.lockSecond(name);
    const forget = this.#changes.forgetSecond(name);
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
    const read = (page: Page) =>
      this.#list(this.#payments.listed(condition, page, 'changed_at_ms'), 'changedAtMs');
    let count = 0;
    for await (const firsts of pagesOf(read)) {
      for (const { key } of firsts) {
        count += await this.#session.run(() => this.#pruneOrder(key, beforeMs));
      }
    }
    return count;
  }

  *#pruneOrder(first: string, beforeMs: number): Step<number> {
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
  const { key, row, nowMs } = parseOwnedRow(json);
  const place = { atMs: row[time] ?? 0, names: [key] };
  return { key, place, stored: steps.visible(row, nowMs) as PaymentRow, listedAtMs: nowMs };
}

// The result of a single statement is known except for the database's time, which this process's clock replaces.

/** The payment that a claim has stored as new. */
export function added(claim: Claim, intent: Intent): PaymentRow {
  const nowMs = Date.now();
  const row = steps.newRow(intent, { state: 'recorded', order: undefined, nowMs });
  return steps.visible({ ...row, ...steps.claim(row, claim, nowMs) }, nowMs) as PaymentRow;
}

/** The stored payment after the end of an attempt to send. */
export function finished(claimed: PaymentRow, result: Result): PaymentRow {
  const changedAtMs = Date.now();
  const row = { ...claimed, changedAtMs, ...steps.end(result) } as steps.OwnedRow;
  return steps.visible(row, changedAtMs) as PaymentRow;
}
