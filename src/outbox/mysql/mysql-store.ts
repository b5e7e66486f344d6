import { isMissingTable } from '../../storage/mysql/failures.js';
import type { AskForTexts as Ask, MysqlRunner } from '../../storage/mysql/runner.js';
import type { SettleOutcome } from '../outbox.js';
import { type OwnedRow, parseOwnedRow, parseSecondPayments } from '../rows.js';
import * as steps from '../steps.js';
import type {
  Claim,
  Claimed,
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
import { explain, isDeadlock, isUndone } from './failures.js';
import type { QuotedTables } from './options.js';
import { createTables } from './schema.js';
import { Statements } from './statements.js';

const MAX_DEADLOCKS = 10;
const CHANGED_AT_ONCE = 200;

type Step<Value> = (ask: Ask) => Promise<Value>;

/**
 * The tables of an outbox in MySQL. A step locks its row and decides in this process, because UPDATE has no
 * RETURNING in MySQL.
 */
export class MysqlStore<Tx> implements OutboxStore<Tx> {
  readonly needsTransaction = true;
  readonly #runner: MysqlRunner<Tx>;
  readonly #tables: QuotedTables;
  readonly #statements: Statements;

  constructor(runner: MysqlRunner<Tx>, tables: QuotedTables) {
    this.#runner = runner;
    this.#tables = tables;
    this.#statements = new Statements(tables);
  }

  setup(): Promise<void> {
    return explained(async () => {
      for (const [index, create] of createTables(this.#tables).entries()) {
        const check = this.#statements.checks[index] as string;
        // Checked first: CREATE TABLE IF NOT EXISTS fails for a user without the right to create, even if the table
        // exists.
        const exists = await this.#runner.run(check).catch((error) => {
          if (!isMissingTable(error)) throw error;
        });
        if (exists !== undefined) continue;
        await this.#runner.run(create);
        // Fails if the table lacks a column.
        await this.#runner.run(check);
      }
    });
  }

  async claim(claim: Claim): Promise<Claimed> {
    const { intent } = claim;
    const isAdded = intent && (await this.#add(claim, intent));
    return isAdded ? { granted: true, stored: steps.added(intent) } : this.#claimStored(claim);
  }

  #add(claim: Claim, intent: Intent): Promise<boolean | undefined> {
    let isSent = false;
    const adding = this.#changeAlone((session) => {
      isSent = true;
      return this.#statements.add(claim, intent, session);
    });
    adding.catch(() => (isSent ? this.#withdraw(claim) : undefined)).catch(() => undefined);
    return adding;
  }

  /**
   * After a connection is closed, MySQL still waits for the lock that its statement needs. So a claim whose sender
   * has given up could still be granted once the other transaction rolls back, and its payment would never be sent.
   */
  async #withdraw({ key, owner }: Claim): Promise<void> {
    // This fails for a session that has ended since it was found. The claim may then be granted, and is released below.
    await this.#killClaim(owner).catch(() => undefined);
    await this.#finish(key, owner, { state: 'recorded', failure: undefined });
  }

  async #killClaim(owner: string): Promise<void> {
    for (const session of await this.#run(this.#statements.findClaim(owner))) {
      await this.#run(`KILL ${Number(session)}`);
    }
  }

  #claimStored({ key, ...wanted }: Claim): Promise<Claimed> {
    return this.#step(undefined, async (ask) => {
      if (wanted.intent !== undefined) await ask(this.#statements.insert(key, wanted.intent));
      const found = await this.#lock(ask, key);
      if (found === undefined) return { granted: false, stored: undefined };
      const change = steps.claim(found.row, wanted, found.nowMs);
      const stored = await this.#change(ask, found, change);
      return { granted: change?.state === 'sending', stored };
    });
  }

  record(key: string, intent: Intent, tx: Tx): Promise<StoredPayment | undefined> {
    return this.#step(tx, async (ask) => {
      await ask(this.#statements.insert(key, intent));
      const found = (await this.#lock(ask, key)) as OwnedRow;
      return this.#change(ask, found, steps.record(found.row, intent));
    });
  }

  async finish(
    key: string,
    owner: string,
    result: Result,
    claimed: StoredPayment | undefined,
  ): Promise<StoredPayment | undefined> {
    if (claimed === undefined) return this.#finish(key, owner, result);
    const isFinished = await this.#changeAlone(() =>
      this.#statements.finish(key, owner, steps.end(result)),
    );
    if (isFinished === undefined) return this.#finish(key, owner, result);
    return isFinished ? steps.finished(claimed, result) : undefined;
  }

  #finish(key: string, owner: string, result: Result): Promise<StoredPayment | undefined> {
    return this.#step(undefined, async (ask) => {
      const found = await this.#lock(ask, key);
      if (found?.row.owner !== owner) return undefined;
      return this.#change(ask, found, steps.end(result));
    });
  }

  settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome> {
    return this.#step(tx, async (ask) => {
      const found = await this.#lock(ask, key);
      if (found === undefined) return 'not-ours';
      const { outcome, change } = steps.settle(found.row, finding);
      await this.#change(ask, found, change);
      if (outcome === 'second-payment') {
        await ask(this.#statements.addSecond(key, found.row.body, finding));
      }
      return outcome;
    });
  }

  resolve(key: string, result: Result): Promise<boolean> {
    return this.#step(undefined, async (ask) => {
      const found = await this.#lock(ask, key);
      if (found === undefined || toStored(found).state !== 'unresolved') return false;
      await this.#change(ask, found, steps.end(result));
      return true;
    });
  }

  async read(key: string): Promise<StoredPayment | undefined> {
    const [found] = await this.#list(this.#statements.read(key));
    return found?.stored;
  }

  expire(): Promise<number> {
    return this.#inBatches(
      (limit) => this.#statements.lockExpired(limit),
      (keys) => this.#statements.expire(keys),
    );
  }

  listRecorded(page: Page): Promise<readonly Listed[]> {
    return this.#list(this.#statements.listRecorded(page));
  }

  listUnresolved(page: Page): Promise<readonly Listed[]> {
    return this.#list(this.#statements.listUnresolved(page));
  }

  async listSecondPayments({
    after,
    limit,
  }: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]> {
    const rows = await this.#run(this.#statements.listSecondPayments(after, limit));
    return parseSecondPayments(`[${rows.join(',')}]`);
  }

  async prune(olderThan: Date): Promise<number> {
    const beforeMs = olderThan.getTime();
    await this.#step(undefined, (ask) => ask(this.#statements.pruneSeconds(beforeMs)));
    return this.#inBatches(
      (limit) => this.#statements.lockOld(beforeMs, limit),
      (keys) => this.#statements.delete(keys),
    );
  }

  /** Resolves with undefined if there is no such payment. */
  async #lock(ask: Ask, key: string): Promise<OwnedRow | undefined> {
    const [json] = await ask(this.#statements.lock(key));
    return json === undefined ? undefined : parseOwnedRow(json);
  }

  /** Resolves with what is then stored. */
  async #change(
    ask: Ask,
    { key, row, nowMs }: OwnedRow,
    change: steps.Change | undefined,
  ): Promise<StoredPayment> {
    if (change === undefined) return steps.visible(row, nowMs);
    const changed = { ...change, changedAtMs: nowMs };
    await ask(this.#statements.change(key, changed));
    return steps.visible({ ...row, ...changed }, nowMs);
  }

  async #inBatches(
    lock: (limit: number) => string,
    change: (keys: readonly string[]) => string,
  ): Promise<number> {
    for (let total = 0; ; ) {
      const count = await this.#step(undefined, async (ask) => {
        const keys = await ask(lock(CHANGED_AT_ONCE));
        if (keys.length > 0) await ask(change(keys));
        return keys.length;
      });
      total += count;
      if (count < CHANGED_AT_ONCE) return total;
    }
  }

  async #list(statement: string): Promise<readonly Listed[]> {
    const rows = await this.#run(statement);
    return rows.map(parseOwnedRow).map((found) => ({ key: found.key, stored: toStored(found) }));
  }

  /**
   * Runs the usual case of a step as a single statement. Resolves with whether it changed a row; with undefined,
   * and nothing changed, if the step needs a transaction.
   */
  async #changeAlone(statement: (session: number) => string): Promise<boolean | undefined> {
    const { change } = this.#runner;
    if (change === undefined) return undefined;
    return explained(() =>
      change(statement).catch((error) => {
        if (isUndone(error)) return undefined;
        throw error;
      }),
    );
  }

  #run(statement: string): Promise<readonly string[]> {
    return explained(() => this.#runner.run(statement));
  }

  #step<Value>(tx: Tx | undefined, step: Step<Value>): Promise<Value> {
    return explained(async () => {
      if (tx !== undefined) return this.#runner.runIn(tx, step);
      for (let count = 1; ; count += 1) {
        try {
          return await this.#runner.runTogether(step);
        } catch (error) {
          // A deadlock has rolled back the whole transaction.
          if (!isDeadlock(error) || count === MAX_DEADLOCKS) throw error;
        }
      }
    });
  }
}

function toStored({ row, nowMs }: OwnedRow): StoredPayment {
  return steps.visible(row, nowMs);
}

async function explained<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw explain(error);
  }
}
