import { InboxError } from '../../errors.js';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { DEADLOCK, errnoOf } from '../../storage/mysql/failures.js';
import type { OpenConnection } from '../../storage/mysql/mysql-transactions.js';
import type { QuotedTables, Timeouts } from './options.js';
import { explainMissing, missingTables } from './schema.js';
import { callProcedures, type StoredEvent, WAIT, withoutProcedures } from './statements.js';

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
  readonly #called: ReturnType<typeof callProcedures>;
  readonly #written: ReturnType<typeof withoutProcedures>;
  readonly #timeouts: EventTimeouts;
  #hasProcedures = true;

  constructor(tables: QuotedTables, timeouts: EventTimeouts) {
    this.#timeouts = timeouts;
    this.#called = callProcedures(tables);
    this.#written = withoutProcedures(tables);
  }

  /** Has the procedures tried again: they may have been made. */
  expectProcedures(): void {
    this.#hasProcedures = true;
  }

  /**
   * Begins the transaction, locks the payment and looks whether the event is to run. After
   * `no procedures`, another call on another connection does without them.
   */
  async claim(connection: Asking, event: StoredEvent, lockTimeoutMs: number): Promise<Claim> {
    const isCalled = this.#hasProcedures;
    try {
      const limits = { ...this.#timeouts, lockTimeoutMs };
      const { home, rows } = isCalled
        ? await this.#call(connection, event, limits)
        : await this.#write(connection, event, limits);
      return this.#judge(event, rows, home);
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

  async #call(connection: Asking, event: StoredEvent, limits: Limits): Promise<Known> {
    let rows: readonly string[] = [];
    for (const statement of this.#called.claim(event, limits)) {
      rows = await connection.ask(statement, answerTime(limits));
    }
    return rows[0] === WAIT ? this.#wait(connection, event, limits) : { rows };
  }

  async #write(connection: Asking, event: StoredEvent, limits: Limits): Promise<Known> {
    for (const statement of this.#written.begin(limits)) {
      await connection.ask(statement, limits.commandTimeoutMs);
    }
    return this.#wait(connection, event, limits);
  }

  // The look is a statement beside the lock's, so that it sees what the one before has committed.
  async #wait(connection: Asking, event: StoredEvent, limits: Limits): Promise<Known> {
    const { lock, look } = this.#written;
    const [home] = await connection.ask(lock(event, limits.lockTimeoutMs), answerTime(limits));
    if (home === undefined) throw missingTables();
    return { home, rows: await connection.ask(look(event), limits.commandTimeoutMs) };
  }

  #judge(event: StoredEvent, rows: readonly string[], home = ''): Claim {
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
    const form = this.#hasProcedures ? this.#called : this.#written;
    return {
      found: 'claimed',
      stale,
      record: form.record(event, { latestUs: String(latestUs), home }),
    };
  }
}

type Limits = EventTimeouts & { readonly lockTimeoutMs: number };

/** What is known of a payment: a row for each of its changes. */
interface Known {
  readonly rows: readonly string[];
  /** The session's database, where the statements are written out. */
  readonly home?: string;
}

function answerTime({ lockTimeoutMs, commandTimeoutMs }: Limits): number {
  return Math.min(lockTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
}

function unknownAnswer(): InboxError {
  return new InboxError(
    'STORE_FAILED',
    "The claim of a callback gave an answer that this version does not know, so nothing was processed; look for another version's procedures in the database, or another procedure of that name",
  );
}
