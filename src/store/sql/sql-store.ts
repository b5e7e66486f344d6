import { wasNeverSent } from '../failures.js';
import type { SettleOutcome } from '../outbox.js';
import { type OwnedRow, parseOwnedRow, parseSecondPayments, parseTime } from '../rows.js';
import * as steps from '../steps.js';
import type {
  Claim,
  Claimed,
  Decided,
  Decision,
  Finding,
  Intent,
  Listed,
  OutboxStore,
  Page,
  Result,
  SecondPaymentsPage,
  StoredPayment,
  StoredSecondPayment,
} from '../store.js';
import type { SqlSession, Step } from './session.js';
import type { Statements } from './statements.js';

const CHANGED_AT_ONCE = 200;
const NOT_SENT: Result = { state: 'recorded', failure: undefined };

/** The tables of an outbox in any SQL database. A step locks its row, and steps.ts decides. */
export class SqlStore<Tx> implements OutboxStore<Tx> {
  readonly needsTransaction: boolean;
  readonly #session: SqlSession<Tx>;
  readonly #statements: Statements;

  constructor(session: SqlSession<Tx>, statements: Statements, { needsTransaction = true } = {}) {
    this.#session = session;
    this.#statements = statements;
    this.needsTransaction = needsTransaction;
  }

  async claim(claim: Claim): Promise<Claimed> {
    const { intent } = claim;
    const isAdded = intent !== undefined && (await this.#add(claim, intent));
    if (isAdded) return { granted: true, stored: steps.added(intent) };
    return this.#session.run(() => this.#claimStep(claim));
  }

  /** The usual case, in one message. */
  #add(claim: Claim, intent: Intent): Promise<boolean | undefined> {
    let isSent = false;
    const add = (mark: string): string => {
      isSent = true;
      return this.#statements.add(claim, intent, mark);
    };
    const adding = this.#session.change(add, claim.owner);
    adding
      .catch((error) => (isSent ? this.#withdraw(claim, error) : undefined))
      .catch(() => undefined);
    return adding;
  }

  /**
   * After a connection is closed, a server still waits for the lock that its statement needs. So a claim whose sender
   * has given up could still be granted once the other transaction rolls back, and its payment would never be sent.
   */
  async #withdraw({ key, owner }: Claim, error: unknown): Promise<void> {
    if (wasNeverSent(error)) return;
    // If this fails, the claim may already be granted, and is released below.
    await this.#session.cancel(owner).catch(() => undefined);
    await this.finish(key, owner, NOT_SENT, undefined);
  }

  *#claimStep(claim: Claim): Step<Claimed> {
    const { key, intent } = claim;
    if (intent !== undefined) yield this.#statements.insert(key, intent);
    const found = yield* this.#lock(key);
    if (found === undefined) return { granted: false, stored: undefined };
    const change = steps.claim(found.row, claim, found.nowMs);
    const stored = yield* this.#change(found, change);
    return { granted: change?.state === 'sending', stored };
  }

  record(key: string, intent: Intent, tx: Tx | undefined): Promise<StoredPayment | undefined> {
    return this.#in(tx, () => this.recordStep(key, intent));
  }

  *recordStep(key: string, intent: Intent): Step<StoredPayment | undefined> {
    yield this.#statements.insert(key, intent);
    const found = yield* this.#lock(key);
    return found && (yield* this.#change(found, steps.record(found.row, intent)));
  }

  async finish(
    key: string,
    owner: string,
    result: Result,
    claimed: StoredPayment | undefined,
  ): Promise<StoredPayment | undefined> {
    const finish = () => this.#statements.finish(key, owner, steps.end(result));
    const isFinished = claimed && (await this.#session.change(finish, undefined));
    if (isFinished === undefined) {
      return this.#session.run(() => this.#finishStep(key, owner, result));
    }
    return isFinished ? steps.finished(claimed as StoredPayment, result) : undefined;
  }

  *#finishStep(key: string, owner: string, result: Result): Step<StoredPayment | undefined> {
    const found = yield* this.#lock(key);
    if (found?.row.owner !== owner) return undefined;
    return yield* this.#change(found, steps.end(result));
  }

  settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome> {
    return this.#in(tx, () => this.#settleStep(key, finding));
  }

  *#settleStep(key: string, finding: Finding): Step<SettleOutcome> {
    const found = yield* this.#lock(key);
    const { outcome, change } = steps.settle(found?.row, finding);
    if (found === undefined) return outcome;
    yield* this.#change(found, change);
    if (outcome === 'second-payment') yield* this.#keepSecond(found, finding);
    return outcome;
  }

  *#keepSecond({ key, row }: OwnedRow, finding: Finding): Step<void> {
    const [json] = yield this.#statements.lockSecond(key, finding);
    if (json === undefined) yield this.#statements.addSecond(key, row.body, finding);
    else if (!steps.isOlder(finding, { updatedAtUs: parseTime(json) })) {
      yield this.#statements.changeSecond(key, finding);
    }
  }

  resolve(key: string, decision: Decision, attempts: number): Promise<Decided | undefined> {
    return this.#session.run(() => this.#resolveStep(key, decision, attempts));
  }

  *#resolveStep(key: string, decision: Decision, attempts: number): Step<Decided | undefined> {
    const found = yield* this.#lock(key);
    if (found === undefined) return undefined;
    const { decided, change } = steps.resolve(found.row, decision, attempts, found.nowMs);
    yield* this.#change(found, change);
    return decided;
  }

  async read(key: string): Promise<StoredPayment | undefined> {
    const [found] = await this.#list(this.#statements.read(key));
    return found?.stored;
  }

  expire(): Promise<number> {
    return this.#inBatches(this.#statements.lockExpired(CHANGED_AT_ONCE), (keys) =>
      this.#statements.expire(keys),
    );
  }

  listRecorded(page: Page): Promise<readonly Listed[]> {
    return this.#list(this.#statements.listRecorded(page));
  }

  listUnresolved(page: Page): Promise<readonly Listed[]> {
    return this.#list(this.#statements.listUnresolved(page));
  }

  async listSecondPayments(page: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]> {
    const rows = await this.#session.read(this.#statements.listSecondPayments(page));
    return parseSecondPayments(rows);
  }

  async prune(olderThan: Date): Promise<number> {
    const beforeMs = olderThan.getTime();
    await this.#session.run(() => this.#pruneSeconds(beforeMs));
    return this.#inBatches(this.#statements.lockOld(beforeMs, CHANGED_AT_ONCE), (keys) =>
      this.#statements.delete(keys),
    );
  }

  *#pruneSeconds(beforeMs: number): Step<void> {
    yield this.#statements.pruneSeconds(beforeMs);
  }

  #in<Value>(tx: Tx | undefined, step: () => Step<Value>): Promise<Value> {
    return tx === undefined ? this.#session.run(step) : this.#session.runIn(tx, step);
  }

  /** Returns undefined if there is no such payment. */
  *#lock(key: string): Step<OwnedRow | undefined> {
    const [json] = yield this.#statements.lock(key);
    return json === undefined ? undefined : parseOwnedRow(json);
  }

  /** Returns what is then stored. */
  *#change({ key, row, nowMs }: OwnedRow, change: steps.Change | undefined): Step<StoredPayment> {
    if (change === undefined) return steps.visible(row, nowMs);
    const changed = { ...change, changedAtMs: nowMs };
    yield this.#statements.change(key, changed);
    return steps.visible({ ...row, ...changed }, nowMs);
  }

  async #inBatches(lock: string, change: (keys: readonly string[]) => string): Promise<number> {
    for (let total = 0; ; ) {
      const count = await this.#session.run(() => changeLocked(lock, change));
      total += count;
      if (count < CHANGED_AT_ONCE) return total;
    }
  }

  async #list(statement: string): Promise<readonly Listed[]> {
    const rows = await this.#session.read(statement);
    return rows.map(parseOwnedRow).map((found) => ({ key: found.key, stored: toStored(found) }));
  }
}

function* changeLocked(lock: string, change: (keys: readonly string[]) => string): Step<number> {
  const keys = yield lock;
  if (keys.length > 0) yield change(keys);
  return keys.length;
}

function toStored({ row, nowMs }: OwnedRow): StoredPayment {
  return steps.visible(row, nowMs);
}
