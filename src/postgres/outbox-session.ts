import { InvalidOptionError, type StoreError } from '../errors.js';
import { databaseErrorOf, sqlStateOf } from './failures.js';
import { literal } from './literal.js';
import type { PostgresRunner } from './runner.js';
import {
  isMissingTable,
  missingTables,
  TABLE_LOCK_TIMEOUT_MS,
} from './schema-parts.js';
import { onlyText } from './transactions.js';
import type { Row } from '../store/sql/runner.js';
import { explainFailure, noAnswer, noAnswerInTime, type Server } from '../store/failures.js';
import { type SqlSession, type Step, walk } from '../store/sql/session.js';
import { DURABLY } from './outbox-dialect.js';
import type { QuotedTables } from './outbox-options.js';
import { schemaParts } from './outbox-schema.js';

// An arbitrary number that the application is unlikely to lock.
const SETUP_LOCK = 7_161_998_226_002;
const NO_TRANSACTION = '25P01';
// serialization_failure, for roles whose default is REPEATABLE READ or SERIALIZABLE, and deadlock_detected.
const RETRYABLE_STATES: readonly unknown[] = ['40001', '40P01'];
const TRIES = 10;

/** Runs the statements and steps of an outbox on Postgres. */
export class PostgresSession<Tx> implements SqlSession<Tx> {
  readonly #runner: PostgresRunner<Tx>;
  readonly #tables: QuotedTables;

  constructor(runner: PostgresRunner<Tx>, tables: QuotedTables) {
    this.#runner = runner;
    this.#tables = tables;
  }

  async setup(): Promise<void> {
    const parts = schemaParts(this.#tables);
    const exists = parts.map((part) => part.exists).join(' AND ');
    // CREATE INDEX IF NOT EXISTS locks the table before it checks, and fails for a role without the right to
    // create even if the index exists.
    const check = `SELECT CASE WHEN ${exists} THEN 'all' ELSE 'not all' END`;
    const found = await this.#tried(() => this.#runner.run(check));
    if (onlyTextOf(found) === 'all') return;
    const statements = [
      // Two concurrent CREATE TABLE IF NOT EXISTS can fail.
      `SELECT pg_advisory_xact_lock(${SETUP_LOCK})::text`,
      `SELECT set_config('lock_timeout', '${TABLE_LOCK_TIMEOUT_MS}', true)`,
      ...parts.map(({ create }) => create),
    ];
    await this.#runner.runAll(statements).catch(explained);
  }

  async read(statement: string): Promise<readonly string[]> {
    // As one text, since a pool that hides rows must not make a list look empty.
    const list = `SELECT coalesce(json_agg(entry), '[]')::text FROM (${statement}) AS page(entry)`;
    return JSON.parse(onlyTextOf(await this.#tried(() => this.#runner.run(list))));
  }

  async change(statement: (mark: string) => string, owner: string | undefined): Promise<boolean> {
    const text = statement(owner === undefined ? '' : markOf(owner));
    const isChanged = await this.#tried(() => this.#runner.change(text));
    if (isChanged === undefined) throw noAnswer(POSTGRES);
    return isChanged;
  }

  run<Value>(step: () => Step<Value>): Promise<Value> {
    return this.#tried(() =>
      this.#runner.runTogether(`SELECT ${DURABLY}`, (ask) =>
        walk(step, async (statement) => textsOf(await ask(statement))),
      ),
    );
  }

  async runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value> {
    try {
      await this.#assertOpen(tx);
      return await walk(step, async (statement) =>
        textsOf(await this.#runner.runIn(tx, statement)),
      );
    } catch (error) {
      return explained(error);
    }
  }

  /** Outside an open transaction, the payment would be stored and sent even if its order is not stored. */
  async #assertOpen(tx: Tx): Promise<void> {
    if (this.#runner.refusesEnded(tx)) return;
    try {
      // Fails outside a transaction, and takes a lock that the step takes anyway.
      await this.#runner.runIn(tx, `LOCK TABLE ${this.#tables.payments} IN ROW EXCLUSIVE MODE`);
    } catch (error) {
      if (sqlStateOf(databaseErrorOf(error)) !== NO_TRANSACTION) throw error;
      throw new InvalidOptionError(
        'tx',
        'tx must be an open transaction; received one that has ended',
      );
    }
  }

  cancel(owner: string): Promise<unknown> {
    return this.#runner.run(`SELECT count(pg_cancel_backend(pid))::text FROM pg_stat_activity
WHERE state = 'active' AND starts_with(query, ${literal(markOf(owner))})`);
  }

  async #tried<Value>(run: () => Promise<Value>): Promise<Value> {
    for (let triesLeft = TRIES; ; triesLeft -= 1) {
      try {
        return await run();
      } catch (error) {
        const isUndone = RETRYABLE_STATES.includes(sqlStateOf(databaseErrorOf(error)));
        if (!isUndone || triesLeft === 1) return explained(error);
      }
    }
  }
}

/** A comment at the start of a claim, to find it among the running statements. */
function markOf(owner: string): string {
  return `/* ${owner} */ `;
}

function explained(error: unknown): never {
  throw explainFailure(error, POSTGRES);
}

function onlyTextOf(rows: readonly Row[]): string {
  try {
    return onlyText(rows);
  } catch {
    throw noAnswer(POSTGRES);
  }
}

function textsOf(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => onlyTextOf([row]));
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
export function noStepInTime(timeoutMs: number): StoreError {
  return noAnswerInTime(POSTGRES, timeoutMs);
}
