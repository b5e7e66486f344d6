import { InboxError } from '../../errors.js';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { DEADLOCK, errnoOf } from '../../storage/mysql/failures.js';
import type { OpenConnection } from '../../storage/mysql/mysql-transactions.js';
import { inDatabase, type QuotedTables, type Timeouts } from './options.js';
import { explainMissing, missingTables } from './schema.js';
import {
  callProcedures,
  DATABASE,
  type StoredEvent,
  WAIT,
  withoutProcedures,
} from './statements.js';

/** What a claim found. With `claimed` the payment is locked until the transaction ends. */
export type Claim = Claimed | Unclaimed;

interface Claimed {
  readonly found: 'claimed';
  readonly stale: boolean;
  /** The statements that mark the event as processed, and commit. */
  readonly record: readonly string[];
}

/** Why the work is not to run, or not yet. */
export interface Unclaimed {
  readonly found: 'duplicate' | 'stale' | 'busy' | 'no procedures';
}

const LOCK_WAIT_TIMEOUT = 1205;
const QUERY_INTERRUPTED = 1317;
// max_statement_time of MariaDB and MAX_EXECUTION_TIME of MySQL.
const STATEMENT_TIMEOUTS: readonly unknown[] = [1969, 3024];
const BUSY: readonly unknown[] = [
  LOCK_WAIT_TIMEOUT,
  DEADLOCK,
  QUERY_INTERRUPTED,
  ...STATEMENT_TIMEOUTS,
];

// ER_SP_DOES_NOT_EXIST, ER_PROCACCESS_DENIED_ERROR, and ER_NOT_SUPPORTED_YET and ER_UNKNOWN_COM_ERROR of
// what speaks the protocol without procedures.
const NO_PROCEDURES: readonly unknown[] = [1305, 1370, 1235, 1047];

type EventTimeouts = Pick<Timeouts, 'commandTimeoutMs' | 'idleTimeoutMs'>;
type Asking = Pick<OpenConnection<unknown>, 'ask'>;

/** Claims and records events in the table. */
export class EventRecord {
  readonly #tables: QuotedTables;
  readonly #timeouts: EventTimeouts;
  #statements: Statements | undefined;
  #hasProcedures = true;

  constructor(tables: QuotedTables, timeouts: EventTimeouts) {
    this.#tables = tables;
    this.#timeouts = timeouts;
  }

  /** Has the procedures tried again: they may have been made. */
  expectProcedures(): void {
    this.#hasProcedures = true;
  }

  /**
   * Begins the transaction, locks the payment and looks whether the event is to run. After
   * `no procedures`, another call on another connection does without them.
   *
   * @param onInLine called when the server has been asked for the lock
   */
  async claim(
    connection: Asking,
    event: StoredEvent,
    lockTimeoutMs: number,
    onInLine: () => void,
  ): Promise<Claim> {
    const limits = { ...this.#timeouts, lockTimeoutMs, onInLine };
    const isCalled = this.#hasProcedures;
    try {
      const statements = this.#statements ?? (await this.#locate(connection));
      const rows = isCalled
        ? await call(statements, connection, event, limits)
        : await write(statements, connection, event, limits);
      onInLine();
      // The tables were there: what the work sets for a session it shall not set for all.
      this.#statements = statements;
      return judge(event, rows, isCalled ? statements.called : statements.written);
    } catch (error) {
      const errno = errnoOf(error);
      if (BUSY.includes(errno)) return { found: 'busy' };
      if (isCalled && NO_PROCEDURES.includes(errno)) {
        this.#hasProcedures = false;
        return { found: 'no procedures' };
      }
      throw explainMissing(error);
    }
  }

  // In full, as the work may change the session's database.
  async #locate(connection: Asking): Promise<Statements> {
    const [database = ''] = await connection.ask(DATABASE, this.#timeouts.commandTimeoutMs);
    const tables = inDatabase(this.#tables, database);
    return { called: callProcedures(tables), written: withoutProcedures(tables) };
  }
}

interface Statements {
  readonly called: ReturnType<typeof callProcedures>;
  readonly written: ReturnType<typeof withoutProcedures>;
}

async function call(
  { called, written }: Statements,
  connection: Asking,
  event: StoredEvent,
  limits: Limits,
): Promise<readonly string[]> {
  const rows = await connection.ask(called.claim(event, limits), answerTime(limits));
  return rows[0] === WAIT ? waitAndLook(written, connection, event, limits) : rows;
}

async function write(
  { written }: Statements,
  connection: Asking,
  event: StoredEvent,
  limits: Limits,
): Promise<readonly string[]> {
  for (const statement of written.begin(limits)) {
    await connection.ask(statement, limits.commandTimeoutMs);
  }
  return waitAndLook(written, connection, event, limits);
}

// The look is a statement beside the lock's, so that it sees what the one before has committed.
async function waitAndLook(
  { lock, look }: Statements['written'],
  connection: Asking,
  event: StoredEvent,
  limits: Limits,
): Promise<readonly string[]> {
  const locking = connection.ask(lock(event, limits.lockTimeoutMs), answerTime(limits));
  limits.onInLine();
  const locked = await locking;
  if (locked.length === 0) throw missingTables();
  return connection.ask(look(event), limits.commandTimeoutMs);
}

/** @param rows a text for each change of the payment that was processed */
function judge(
  event: StoredEvent,
  rows: readonly string[],
  { record }: Pick<Statements['written'], 'record'>,
): Claim {
  const occurredAtUs = BigInt(event.occurredAtUs);
  let latestUs = occurredAtUs;
  for (const row of rows) {
    const [, latest, key] = /^(-?\d+) (.*)$/s.exec(row) ?? [];
    if (latest === undefined) throw unknownAnswer();
    if (key === event.key) return { found: 'duplicate' };
    if (BigInt(latest) > latestUs) latestUs = BigInt(latest);
  }
  const stale = latestUs > occurredAtUs;
  if (stale && !event.processStale) return { found: 'stale' };
  return { found: 'claimed', stale, record: record(event, { latestUs: String(latestUs) }) };
}

type Limits = EventTimeouts & { readonly lockTimeoutMs: number; onInLine(): void };

function answerTime({ lockTimeoutMs, commandTimeoutMs }: Limits): number {
  return Math.min(lockTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
}

function unknownAnswer(): InboxError {
  return new InboxError(
    'STORE_FAILED',
    "The claim of a callback gave an answer that this version does not know, so nothing was processed; look for another version's procedures in the database, or another procedure of that name",
  );
}
