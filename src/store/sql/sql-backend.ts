import type { Backend, FailedRow } from '../backend.js';
import type { Change, ChangeName } from '../change.js';
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
import { parseFailedRow, parseOne, parseOwnedRow, parseSecondRow, unknownRow } from '../rows.js';
import * as steps from '../steps.js';
import { ChangeStatements } from './change-statements.js';
import type { Dialect } from './dialect.js';
import { type Batch, ENDED, type Names, PaymentStatements } from './payment-statements.js';
import { type SqlSession, type Step, walk } from './session.js';
import { Sql } from './sql.js';
import { SqlOrders, toStored } from './sql-orders.js';
import { databaseForms } from './stored-forms.js';
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

  constructor({ session, dialect, process, needsTransaction }: SqlBackendOptions<Tx>) {
    this.#session = session;
    this.process = process;
    this.needsTransaction = needsTransaction;
    this.#payments = new PaymentStatements(dialect);
    this.#changes = new ChangeStatements(dialect);
    this.#orders = new SqlOrders(this.#payments, new Sql(dialect));
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
    // Not a change, but it settles the payment as one does.
    const { referenceNumber = '' } = serviceRecord;
    const answer = { merchantPaymentReference: key, referenceNumber, serviceRecord, ...NO_CHANGE };
    const [lock, read] = this.#changes.claim(answer);
    yield lock;
    const seen = yield* this.#changes.see(answer, yield read);
    if (seen === undefined) throw unknownRow();
    const settled = steps.settle(seen.row, answer, { isOld: true, second: seen.second });
    for (const statement of this.#changes.settle(answer, { settled })) yield statement;
  }

  decide(key: string, decision: Decision): Promise<Decided> {
    return this.#session.run(() => this.#decideStep(key, decision));
  }

  *#decideStep(key: string, decision: Decision): Step<Decided> {
    const found = yield* this.#orders.lock(key);
    if (found === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.decide(found.row, decision, found.nowMs);
    yield* this.#orders.change(found, change);
    return decided;
  }

  look(key: string, look: steps.Look): Promise<boolean> {
    return this.#session.run(() => this.#lookStep(key, look));
  }

  *#lookStep(key: string, look: steps.Look): Step<boolean> {
    const found = yield* this.#orders.lock(key);
    const change = found && steps.look(found.row, look, found.nowMs);
    if (found !== undefined && change !== undefined) yield* this.#orders.change(found, change);
    return change !== undefined;
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const [found] = await this.#session.read(this.#payments.read(key));
    return found === undefined ? undefined : toStored(parseOwnedRow(found));
  }

  expire(): Promise<number> {
    const lock = (batch: Batch) => this.#payments.lockExpired(batch);
    return this.#inBatches(Number.MAX_SAFE_INTEGER, lock, (names) => this.#payments.expire(names));
  }

  async list(kind: ListKind, page: Page): Promise<readonly Listed[]> {
    const rows = await this.#session.read(this.#payments.list(kind, page));
    return rows.map((json) => toListed(json, kind === 'unresolved' ? 'sentAtMs' : 'changedAtMs'));
  }

  async listDue(
    kind: DueKind,
    lifetimeMs: number,
    page: Omit<Page, 'olderThanMs'>,
  ): Promise<readonly Listed[]> {
    const rows = await this.#session.read(this.#payments.listDue(kind, lifetimeMs, page));
    return rows.map((json) => toListed(json, 'sentAtMs'));
  }

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    return (await this.#session.read(this.#changes.listSecond(page))).map(parseSecondRow);
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const rows = await this.#session.read(this.#changes.listFailed(page, referenceNumber));
    return rows.map(parseFailedRow);
  }

  stopWaiting(key: string, attempts: number): Promise<boolean> {
    return this.#session.run(() => this.#stopWaitingStep(key, attempts));
  }

  *#stopWaitingStep(key: string, attempts: number): Step<boolean> {
    const found = yield* this.#orders.lock(key);
    const change = found && steps.stopWaiting(found.row, attempts);
    if (found !== undefined && change) yield* this.#orders.change(found, change);
    return change === false;
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
    const [payments, changes] = [this.#payments, this.#changes];
    const bodies = (batch: Batch) => changes.lockOldBodies(batch);
    await this.#inBatches(beforeMs, bodies, (names) => changes.removeBodies(names));
    const old = (batch: Batch) => changes.lockOld(batch);
    let count = await this.#inBatches(beforeMs, old, (names) => changes.delete(names));
    for (const state of ENDED) {
      const orders = (batch: Batch) => payments.lockEnded(state, batch);
      count += await this.#inBatches(beforeMs, orders, (names) => payments.delete(names));
    }
    return count + (await this.#pruneOrders(beforeMs));
  }

  /** Orders with further attempts, of which all rows go or none. */
  async #pruneOrders(beforeMs: number): Promise<number> {
    let count = 0;
    for (let after: Cursor | undefined; ; ) {
      const page = { olderThanMs: 0, after, limit: AT_ONCE };
      const rows = await this.#session.read(this.#payments.listReplaced(page, beforeMs));
      const firsts = rows.map((json) => toListed(json, 'changedAtMs'));
      for (const { key } of firsts) {
        count += await this.#session.run(() => this.#orders.prune(key, beforeMs));
      }
      if (rows.length < AT_ONCE) return count;
      after = firsts.at(-1)?.place;
    }
  }

  async #inBatches(
    beforeMs: number,
    lock: (batch: Batch) => string,
    change: (names: readonly Names[]) => string,
  ): Promise<number> {
    for (let [total, fromMs] = [0, 0]; ; ) {
      const statement = lock({ fromMs, beforeMs, limit: AT_ONCE });
      const { count, lastMs } = await this.#session.run(() => changeLocked(statement, change));
      total += count;
      fromMs = lastMs;
      if (count < AT_ONCE) return total;
      // SQLite answers at once, and would let nothing else run in between.
      await new Promise(setImmediate);
    }
  }
}

const NO_CHANGE: Omit<Change, 'merchantPaymentReference' | 'referenceNumber' | 'serviceRecord'> = {
  key: '',
  occurredAtUs: '0',
  rank: '0',
  isPaid: false,
  policy: {},
  full: { merchantPaymentReference: '', referenceNumber: '', key: '' },
};

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

function* changeLocked(
  lock: string,
  change: (names: readonly Names[]) => string,
): Step<{ readonly count: number; readonly lastMs: number }> {
  const rows = (yield lock).map((json) => JSON.parse(json) as [atMs: number, ...names: Names]);
  if (rows.length > 0) yield change(rows.map(([, ...names]) => names));
  return { count: rows.length, lastMs: Number(rows.at(-1)?.[0]) };
}

function toListed(json: string, time: 'sentAtMs' | 'changedAtMs'): Listed {
  const found = parseOwnedRow(json);
  const { key, row, nowMs } = found;
  const place = { atMs: row[time] ?? 0, names: [key] };
  return { key, place, stored: toStored(found) as PaymentRow, listedAtMs: nowMs };
}
