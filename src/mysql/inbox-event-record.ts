import { StoreError } from '../errors.js';
import { LONGEST_TIMER_MS } from '../protocol/options.js';
import { NOTHING_SEEN, type SeenFailures, seeFailures } from '../store/attempt.js';
import { assertUsedUp } from '../store/store-failure.js';
import type { StoredEvent } from '../store/stored-event.js';
import { DEADLOCK, errnoOf, LOCK_WAIT_TIMEOUT } from './failures.js';
import { inDatabase, type QuotedTables, type Timeouts } from './inbox-options.js';
import { explainMissing, missingTables } from './inbox-schema.js';
import {
  callProcedures,
  DATABASE,
  type HeldClaim,
  WAIT,
  withoutProcedures,
} from './inbox-statements.js';
import type { Ending, OpenConnection } from './mysql-transactions.js';

/** The result of a claim. With `claimed`, the payment is locked until the transaction ends. */
export type Claim = Claimed | Unclaimed;

interface Claimed {
  readonly found: 'claimed';
  readonly stale: boolean;
  readonly seen: SeenFailures;
  /** How to end the transaction after the work, so that it records the event as processed. */
  readonly ending: Omit<Extract<Ending<unknown>, { end: 'commit' }>, 'result'>;
}

/** Why the work does not run, or not yet. */
export interface Unclaimed {
  readonly found: 'duplicate' | 'stale' | 'busy' | 'no procedures';
}

const BUSY: readonly unknown[] = [LOCK_WAIT_TIMEOUT, DEADLOCK];
// By KILL QUERY, and by max_statement_time of MariaDB and MAX_EXECUTION_TIME of MySQL: the limit of the
// statement that waits for the lock, or a shorter one of the session.
const CANCELLED: readonly unknown[] = [1317, 1969, 3024];
const CANCELLED_BY = { what: 'The database', limit: 'max_statement_time, max_execution_time' };

// ER_SP_DOES_NOT_EXIST and ER_PROCACCESS_DENIED_ERROR; ER_NOT_SUPPORTED_YET and ER_UNKNOWN_COM_ERROR of
// servers that speak the protocol but have no procedures.
const NO_PROCEDURES: readonly unknown[] = [1305, 1370, 1235, 1047];

type EventTimeouts = Pick<Timeouts, 'commandTimeoutMs' | 'idleTimeoutMs'>;
type ClaimConnection = Pick<OpenConnection<unknown>, 'ask' | 'begin' | 'isProvided'>;

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

  /** Makes the next claim try the procedures again, since they may exist now. */
  expectProcedures(): void {
    this.#hasProcedures = true;
  }

  /**
   * Begins the transaction, locks the payment and decides whether the event runs. After
   * `no procedures`, call it again on a new connection: it then uses plain statements.
   *
   * @param onQueued called once the request for the lock is on its way to the server
   * @throws {StoreError} `STORE_FAILED` when a statement was cancelled before `lockTimeoutMs` was over
   */
  async claim(
    connection: ClaimConnection,
    event: StoredEvent,
    lockTimeoutMs: number,
    onQueued: () => void,
  ): Promise<Claim> {
    const limits = { ...this.#timeouts, lockTimeoutMs, onQueued };
    // The procedures begin and commit, which an ORM's transaction does not allow.
    const isCalled = this.#hasProcedures && !connection.isProvided;
    const askedAtMs = performance.now();
    try {
      const statements = this.#statements ?? (await this.#locate(connection));
      const { called, written } = statements;
      let rows: readonly string[] | undefined;
      if (isCalled) rows = await connection.ask(called.claim(event, limits), answerTimeout(limits));
      else await connection.begin(limits, limits.commandTimeoutMs);
      if (rows === undefined || rows[0] === WAIT) {
        rows = await lockAndRead(written, connection, event, limits);
      }
      onQueued();
      // Cached only now that the tables were found: a session may have another database, set by earlier work.
      this.#statements = statements;
      const seen = parseState(event, rows);
      if (typeof seen === 'string') return { found: seen };
      const { stale, held, failures } = seen;
      const ending = isCalled
        ? { statements: called.record(event, held), commits: true }
        : endingOf(written, connection, event, held);
      return { found: 'claimed', stale, seen: failures, ending: { end: 'commit', ...ending } };
    } catch (error) {
      const errno = errnoOf(error);
      const waitedMs = performance.now() - askedAtMs;
      if (isBusy(error, { waitedMs, lockTimeoutMs })) return { found: 'busy' };
      if (isCalled && NO_PROCEDURES.includes(errno)) {
        this.#hasProcedures = false;
        return { found: 'no procedures' };
      }
      throw explainMissing(error);
    }
  }

  // Qualifies the tables with the database, because the work may change the session's.
  async #locate(connection: ClaimConnection): Promise<Statements> {
    const [database] = (await connection.ask(DATABASE, this.#timeouts.commandTimeoutMs)) as [
      string,
    ];
    const tables = inDatabase(this.#tables, database);
    return { called: callProcedures(tables), written: withoutProcedures(tables) };
  }
}

function isBusy(error: unknown, wait: Parameters<typeof assertUsedUp>[0]): boolean {
  const errno = errnoOf(error);
  if (!CANCELLED.includes(errno)) return BUSY.includes(errno);
  assertUsedUp(wait, CANCELLED_BY, error);
  return true;
}

interface Statements {
  readonly called: ReturnType<typeof callProcedures>;
  readonly written: ReturnType<typeof withoutProcedures>;
}

// Reads in a separate statement after the lock, so that it sees what the previous holder committed.
async function lockAndRead(
  { lock, read }: Statements['written'],
  connection: ClaimConnection,
  event: StoredEvent,
  limits: Limits,
): Promise<readonly string[]> {
  const locking = connection.ask(lock(event, limits.lockTimeoutMs), answerTimeout(limits));
  limits.onQueued();
  const locked = await locking;
  if (locked.length === 0) throw missingTables();
  return connection.ask(read(event), limits.commandTimeoutMs);
}

function endingOf(
  { record, recordIfHeld, isRecorded }: Statements['written'],
  { isProvided }: ClaimConnection,
  event: StoredEvent,
  held: HeldClaim,
) {
  if (!isProvided) return { statements: record(event, held) };
  return { statements: recordIfHeld(event, held), confirm: isRecorded(event) };
}

interface Seen {
  readonly stale: boolean;
  readonly held: HeldClaim;
  readonly failures: SeenFailures;
}

/** @param rows of {@link selectState} */
function parseState(event: StoredEvent, rows: readonly string[]): Seen | 'duplicate' | 'stale' {
  const occurredAtUs = BigInt(event.occurredAtUs);
  let latestUs = occurredAtUs;
  const processed = new Set<string>();
  const kept: { key: string; occurredAtUs: bigint; parked: boolean }[] = [];
  for (const row of rows) {
    const found = /^(?:(parked|failed) )?(-?\d+) (.*)$/s.exec(row);
    if (found === null) throw unknownAnswer();
    const [, word, at, key] = found as unknown as [string, string | undefined, string, string];
    if (word !== undefined) kept.push({ key, occurredAtUs: BigInt(at), parked: word === 'parked' });
    else if (key === event.key) return 'duplicate';
    else {
      processed.add(key);
      if (BigInt(at) > latestUs) latestUs = BigInt(at);
    }
  }
  const stale = latestUs > occurredAtUs;
  if (stale && !event.processStale) return 'stale';
  // Most payments have none. A failure may have been stored while the change was being processed elsewhere.
  const unprocessed = kept.filter(({ key }) => !processed.has(key));
  const change = { key: event.key, occurredAtUs };
  const failures = unprocessed.length === 0 ? NOTHING_SEEN : seeFailures(change, unprocessed);
  const hasFailed = failures.own !== undefined;
  return { stale, failures, held: { latestUs: String(latestUs), hasFailed } };
}

type Limits = EventTimeouts & { readonly lockTimeoutMs: number; onQueued(): void };

function answerTimeout({ lockTimeoutMs, commandTimeoutMs }: Limits): number {
  return Math.min(lockTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
}

function unknownAnswer(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    "The claim of a callback returned an answer that this version does not know, so nothing was processed; look for another version's procedures in the database, or another procedure of that name",
  );
}
