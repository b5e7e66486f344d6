import { InvalidOptionError, type OutboxError } from '../../errors.js';
import { databaseErrorOf, sqlStateOf } from '../../storage/postgres/failures.js';
import type { PostgresRunner } from '../../storage/postgres/runner.js';
import {
  isMissingTable,
  missingTables,
  TABLE_LOCK_TIMEOUT_MS,
} from '../../storage/postgres/schema-parts.js';
import type { Row } from '../../storage/runner.js';
import {
  explainFailure,
  noAnswer,
  noAnswerInTime,
  type Server,
  wasNeverSent,
} from '../failures.js';
import type { SettleOutcome } from '../outbox.js';
import { parseRow, parseRows, parseSecondPayments } from '../rows.js';
import { added, finished } from '../steps.js';
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
import type { QuotedTables } from './options.js';
import { schemaParts } from './schema.js';
import { Statements } from './statements.js';

// An arbitrary number that the application is unlikely to lock.
const SETUP_LOCK = 7_161_998_226_002;
const PRUNED_AT_ONCE = 1_000;
const NO_TRANSACTION = '25P01';
// serialization_failure, for roles whose default is REPEATABLE READ or SERIALIZABLE, and deadlock_detected.
const RETRYABLE_STATES: readonly unknown[] = ['40001', '40P01'];
const TRIES = 10;

/** The tables of an outbox in Postgres. */
export class PostgresStore<Tx> implements OutboxStore<Tx> {
  readonly needsTransaction = true;
  readonly #runner: PostgresRunner<Tx>;
  readonly #tables: QuotedTables;
  readonly #statements: Statements;

  constructor(runner: PostgresRunner<Tx>, tables: QuotedTables) {
    this.#runner = runner;
    this.#tables = tables;
    this.#statements = new Statements(tables);
  }

  async setup(): Promise<void> {
    const parts = schemaParts(this.#tables);
    const exists = parts.map((part) => part.exists).join(' AND ');
    const check = `SELECT CASE WHEN ${exists} THEN 'all' ELSE 'not all' END`;
    // CREATE INDEX IF NOT EXISTS locks the table before it checks, and fails for a role without the right to
    // create even if the index exists.
    if ((await this.#ask(check)) === 'all') return;
    const statements = [
      // Two concurrent CREATE TABLE IF NOT EXISTS can fail.
      `SELECT pg_advisory_xact_lock(${SETUP_LOCK})::text`,
      `SELECT set_config('lock_timeout', '${TABLE_LOCK_TIMEOUT_MS}', true)`,
      ...parts.map(({ create }) => create),
    ];
    await this.#runner.runAll(statements).catch(explained);
  }

  claim(claim: Claim): Promise<Claimed> {
    const claiming = this.#claim(claim);
    claiming.catch((error) => this.#withdraw(claim, error)).catch(() => undefined);
    return claiming;
  }

  #claim(claim: Claim): Promise<Claimed> {
    const { intent } = claim;
    if (intent === undefined) return this.#claimStored(claim);
    return this.#change(this.#statements.add(claim, intent)).then((isAdded) =>
      isAdded ? { granted: true, stored: added(intent) } : this.#claimStored(claim),
    );
  }

  /**
   * After a connection is closed, Postgres still waits for the lock that its statement needs. So a claim whose sender
   * has given up could still be granted once the other transaction rolls back, and its payment would never be sent.
   */
  async #withdraw({ key, owner }: Claim, error: unknown): Promise<void> {
    if (wasNeverSent(error)) return;
    // If this fails, the claim may already be granted, and finish() releases it.
    await this.#ask(this.#statements.cancelClaim(owner)).catch(() => undefined);
    await this.#change(
      this.#statements.finish(key, owner, { state: 'recorded', failure: undefined }),
    );
  }

  async #claimStored(claim: Claim): Promise<Claimed> {
    const json = await this.#ask(this.#statements.claim(claim), (statement) =>
      this.#runner.runAll([statement]),
    );
    if (json === undefined) return { granted: false, stored: await this.read(claim.key) };
    const { stored } = parseRow(json);
    return { granted: stored.state === 'sending', stored };
  }

  async record(key: string, intent: Intent, tx: Tx): Promise<StoredPayment | undefined> {
    await this.#assertOpen(tx).catch(explained);
    const recorded = await this.#askIn(tx, this.#statements.record(key, intent));
    if (recorded !== undefined) return undefined;
    const json = await this.#askIn(tx, this.#statements.read(key));
    return json === undefined ? undefined : parseRow(json).stored;
  }

  /** Outside an open transaction, the payment would be stored and sent even if its order is not stored. */
  async #assertOpen(tx: Tx): Promise<void> {
    if (this.#runner.refusesEnded(tx)) return;
    try {
      await this.#runner.runIn(tx, this.#statements.assertTransaction);
    } catch (error) {
      if (sqlStateOf(databaseErrorOf(error)) !== NO_TRANSACTION) throw error;
      throw new InvalidOptionError(
        'tx',
        'tx must be an open transaction; received one that has ended',
      );
    }
  }

  finish(
    key: string,
    owner: string,
    result: Result,
    claimed: StoredPayment | undefined,
  ): Promise<StoredPayment | undefined> {
    return this.#change(this.#statements.finish(key, owner, result)).then((isFinished) =>
      // Callers that do not know what was claimed ignore the result.
      isFinished && claimed !== undefined ? finished(claimed, result) : undefined,
    );
  }

  async settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome> {
    return given(await this.#askIn(tx, this.#statements.settle(key, finding))) as SettleOutcome;
  }

  async resolve(key: string, result: Result): Promise<boolean> {
    return (await this.#ask(this.#statements.resolve(key, result))) !== undefined;
  }

  async read(key: string): Promise<StoredPayment | undefined> {
    return this.#readRow(this.#statements.read(key));
  }

  async expire(): Promise<number> {
    return Number(given(await this.#ask(this.#statements.expire())));
  }

  async listRecorded(page: Page): Promise<readonly Listed[]> {
    return parseRows(given(await this.#ask(this.#statements.listRecorded(page))));
  }

  async listUnresolved(page: Page): Promise<readonly Listed[]> {
    return parseRows(given(await this.#ask(this.#statements.listUnresolved(page))));
  }

  async listSecondPayments({
    after,
    limit,
  }: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]> {
    return parseSecondPayments(
      given(await this.#ask(this.#statements.listSecondPayments(after, limit))),
    );
  }

  async prune(olderThan: Date): Promise<number> {
    for (let total = 0; ; ) {
      const pruned = await this.#ask(this.#statements.prune(olderThan, PRUNED_AT_ONCE));
      const deleted = Number(given(pruned));
      total += deleted;
      if (deleted < PRUNED_AT_ONCE) return total;
    }
  }

  async #readRow(statement: string): Promise<StoredPayment | undefined> {
    const json = await this.#ask(statement);
    return json === undefined ? undefined : parseRow(json).stored;
  }

  // then() instead of await, for speed: this runs twice per payment, and every async function has a cost.
  #change(statement: string, triesLeft = TRIES): Promise<boolean> {
    return this.#runner
      .change(statement)
      .then(known)
      .catch((error) =>
        mayRetry(error, triesLeft) ? this.#change(statement, triesLeft - 1) : explained(error),
      );
  }

  #ask(statement: string, run = this.#runner.run, triesLeft = TRIES): Promise<string | undefined> {
    return run(statement)
      .then(onlyText)
      .catch((error) =>
        mayRetry(error, triesLeft) ? this.#ask(statement, run, triesLeft - 1) : explained(error),
      );
  }

  async #askIn(tx: Tx | undefined, statement: string): Promise<string | undefined> {
    if (tx === undefined) return this.#ask(statement);
    return this.#runner.runIn(tx, statement).then(onlyText).catch(explained);
  }
}

/** Whether the statement was rolled back because of another transaction, and may be retried. */
function mayRetry(error: unknown, triesLeft: number): boolean {
  return triesLeft > 1 && RETRYABLE_STATES.includes(sqlStateOf(databaseErrorOf(error)));
}

function explained(error: unknown): never {
  throw explainFailure(error, POSTGRES);
}

function known(isChanged: boolean | undefined): boolean {
  if (isChanged === undefined) throw noAnswer(POSTGRES);
  return isChanged;
}

/** Asserts the text of a statement that always returns one row: without the check, a list would look empty. */
function given(text: string | undefined): string {
  if (text === undefined) throw noAnswer(POSTGRES);
  return text;
}

/** Returns the only text of a statement's only row; undefined if it returned no row. */
function onlyText(rows: readonly Row[]): string | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const value: unknown = Object.values(row)[0];
  if (typeof value === 'string') return value;
  throw noAnswer(POSTGRES);
}

const POSTGRES: Server = {
  name: 'Postgres',
  poolRemedy: "set the pool's connectionTimeoutMillis",
  missingTables: missingTables({
    owner: 'outbox',
    other: 'an inbox',
    use: 'payment',
    schema: 'postgresOutboxSchema()',
  }),
  isMissingTable,
  withoutStatement(error) {
    const found = databaseErrorOf(error);
    const code = sqlStateOf(found);
    return code === undefined
      ? undefined
      : Object.assign(new Error(String((found as { readonly message?: unknown }).message)), {
          code,
        });
  },
};

/** The error for a statement without an answer in time. */
export function noStepInTime(timeoutMs: number): OutboxError {
  return noAnswerInTime(POSTGRES, timeoutMs);
}
