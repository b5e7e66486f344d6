import { InboxError, InvalidOptionError, OutboxError } from '../../errors.js';
import { nameFailure } from '../../protocol/describe-value.js';
import { databaseErrorOf, sqlStateOf } from '../../storage/postgres/failures.js';
import { type Runner, TransactionOpen } from '../../storage/postgres/runner.js';
import { isMissingTable } from '../../storage/postgres/schema-parts.js';
import type { Row } from '../../storage/postgres/transactions.js';
import type { SettleOutcome } from '../outbox.js';
import { parseRow, parseRows, parseSecondPayments } from '../rows.js';
import type {
  Claim,
  Claimed,
  Finding,
  Intent,
  Listed,
  OutboxStore,
  Page,
  Result,
  StoredPayment,
  StoredSecondPayment,
} from '../store.js';
import type { QuotedTables } from './options.js';
import { schemaParts } from './schema.js';
import { Statements } from './statements.js';

// Any number that the application does not lock.
const SETUP_LOCK = 7_161_998_226_002;
const PRUNED_AT_ONCE = 1_000;

/** The tables of an outbox in Postgres. */
export class PostgresStore<Tx> implements OutboxStore<Tx> {
  readonly #runner: Runner<Tx>;
  readonly #tables: QuotedTables;
  readonly #statements: Statements;

  constructor(runner: Runner<Tx>, tables: QuotedTables) {
    this.#runner = runner;
    this.#tables = tables;
    this.#statements = new Statements(tables);
  }

  async setup(): Promise<void> {
    const parts = schemaParts(this.#tables);
    const exists = parts.map((part) => part.exists).join(' AND ');
    const look = `SELECT CASE WHEN ${exists} THEN 'all' ELSE 'not all' END`;
    // CREATE INDEX IF NOT EXISTS locks the table before it looks, and a role without the right to create may
    // not even say it.
    if ((await this.#ask(look)) === 'all') return;
    await this.#explained(() =>
      this.#runner.runAll([
        // CREATE TABLE IF NOT EXISTS fails where two of them meet.
        `SELECT pg_advisory_xact_lock(${SETUP_LOCK})::text`,
        ...parts.map(({ create }) => create),
      ]),
    );
  }

  async claim(claim: Claim): Promise<Claimed> {
    const json = await this.#ask(this.#statements.claim(claim));
    if (json === undefined) return { granted: false, stored: await this.read(claim.key) };
    const { stored } = parseRow(json);
    return { granted: stored.state === 'sending', stored };
  }

  async record(
    key: string,
    intent: Intent,
    tx: Tx | undefined,
  ): Promise<StoredPayment | undefined> {
    const recorded = await this.#askIn(tx, this.#statements.record(key, intent));
    if (recorded !== undefined) return undefined;
    const json = await this.#askIn(tx, this.#statements.read(key));
    return json === undefined ? undefined : parseRow(json).stored;
  }

  async finish(key: string, owner: string, result: Result): Promise<StoredPayment | undefined> {
    return this.#readRow(this.#statements.finish(key, owner, result));
  }

  async settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome> {
    return (await this.#askIn(tx, this.#statements.settle(key, finding))) as SettleOutcome;
  }

  async resolve(key: string, result: Result): Promise<boolean> {
    return (await this.#ask(this.#statements.resolve(key, result))) !== undefined;
  }

  async read(key: string): Promise<StoredPayment | undefined> {
    return this.#readRow(this.#statements.read(key));
  }

  async expire(): Promise<number> {
    return Number(await this.#ask(this.#statements.expire()));
  }

  async listRecorded(page: Page): Promise<readonly Listed[]> {
    return parseRows((await this.#ask(this.#statements.listRecorded(page))) ?? '[]');
  }

  async listUnresolved(page: Page): Promise<readonly Listed[]> {
    return parseRows((await this.#ask(this.#statements.listUnresolved(page))) ?? '[]');
  }

  async listSecondPayments({
    after,
    limit,
  }: {
    after: StoredSecondPayment | undefined;
    limit: number;
  }): Promise<readonly StoredSecondPayment[]> {
    const json = await this.#ask(this.#statements.listSecondPayments(after, limit));
    return parseSecondPayments(json ?? '[]');
  }

  async prune(olderThan: Date): Promise<number> {
    for (let total = 0; ; ) {
      const deleted = Number(await this.#ask(this.#statements.prune(olderThan, PRUNED_AT_ONCE)));
      total += deleted;
      if (deleted < PRUNED_AT_ONCE) return total;
    }
  }

  async #readRow(statement: string): Promise<StoredPayment | undefined> {
    const json = await this.#ask(statement);
    return json === undefined ? undefined : parseRow(json).stored;
  }

  #ask(statement: string): Promise<string | undefined> {
    return this.#explained(async () => onlyText(await this.#runner.run(statement)));
  }

  async #askIn(tx: Tx | undefined, statement: string): Promise<string | undefined> {
    if (tx === undefined || tx === null) return this.#ask(statement);
    return this.#explained(async () => onlyText(await this.#runner.runIn(tx, statement)));
  }

  async #explained<Value>(act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      throw explain(error);
    }
  }
}

/** The one text of a statement's one row; undefined when it gave no row. */
function onlyText(rows: readonly Row[]): string | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const value: unknown = Object.values(row)[0];
  if (typeof value === 'string') return value;
  throw new OutboxError(
    'STORE_FAILED',
    'The pool does not give the text that Postgres answered; look for a type parser, or a wrapper of the pool, that changes what queries return',
  );
}

function explain(error: unknown): unknown {
  if (error instanceof OutboxError || error instanceof InvalidOptionError) return error;
  if (error instanceof InboxError) {
    return new OutboxError(
      'OUTBOX_TIMEOUT',
      "The pool gave no connection within acquireTimeoutMs; make the pool larger, find what holds its connections, or set the pool's connectionTimeoutMillis",
    );
  }
  const cause = error instanceof TransactionOpen ? error : withoutStatement(error);
  if (isMissingTable(cause)) return missingTables(cause);
  return new OutboxError(
    'STORE_FAILED',
    'Postgres, or the connection to it, failed during a step of the outbox; cause says how. Whether the step was done is not known; it may be asked for again',
    { cause },
  );
}

/** A stand-in for a driver's error: drivers and ORMs add the statement to theirs, and it has the body. */
function withoutStatement(error: unknown): Error {
  const found = databaseErrorOf(error) as { readonly code?: unknown; readonly message?: unknown };
  const state = sqlStateOf(found);
  if (state !== undefined) return Object.assign(new Error(String(found.message)), { code: state });
  const name = nameFailure(found);
  return new Error(`the driver failed${name}`);
}

/** The error for a statement that was not answered. */
export function noAnswerInTime(timeoutMs: number): OutboxError {
  return new OutboxError(
    'OUTBOX_TIMEOUT',
    `Postgres gave no answer within commandTimeoutMs (${timeoutMs} ms), so the connection was closed. Check the server and the network, and whether a transaction of yours that has recorded the same payment is still open: commit it before create() or send()`,
  );
}

function missingTables(cause: unknown): OutboxError {
  return new OutboxError(
    'MISSING_TABLES',
    'A table of the outbox does not exist, or is not on the search_path; call setup() of the outbox once before its first payment, or run the SQL of postgresOutboxSchema() (with the default prefix: schema.sql of this package)',
    { cause },
  );
}
