import { resolveOptions } from '../../protocol/options.js';
import { mysqlTransactions } from '../../storage/mysql/mysql-transactions.js';
import {
  assertPool,
  type MysqlPoolLike,
  type MysqlQueryable,
  type MysqlTransactionOf,
} from '../../storage/mysql/pool.js';
import { withSavepoints } from '../../storage/mysql/savepoints.js';
import { Turns } from '../../storage/postgres/turns.js';
import { markDatabase } from '../../storage/shared-database.js';
import { toStoredName } from '../../storage/stored-name.js';
import {
  type CallbackInbox,
  type InboxContext,
  type InboxEvent,
  type InboxOutcome,
  toEpochMicroseconds,
} from '../inbox.js';
import { EventRecord, type Unclaimed } from './event-record.js';
import { inboxRules, type MysqlInboxOptions, quoteTables } from './options.js';
import { prune, setup } from './setup.js';
import type { StoredEvent } from './statements.js';

/** An inbox in MySQL or MariaDB. */
export interface MysqlInbox<Tx extends MysqlQueryable = MysqlQueryable> extends CallbackInbox<Tx> {
  /**
   * Makes the tables and procedures where they do not exist. Any number of processes may do so at once,
   * and where everything exists it changes nothing and needs no right to create. Where the application has
   * no such right, let a migration run `mysqlInboxSchema()`, or
   * `merchant-payments/inbox/mysql/schema.sql`. Without the procedures the inbox sends more statements.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when it takes longer than `transactionTimeoutMs`
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`, and forgets payments of which no change was
   * processed since: a later delivery of such an event runs again, and with the payment goes the mark
   * by which an older change is known as stale. So keep events for longer than the service retries, and than
   * a callback may be replayed. Reads the table once, works in small batches, and waits for nobody.
   *
   * @returns how many events were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   */
  prune(olderThan: Date): Promise<number>;
}

/**
 * An inbox in MySQL 8.0 or MariaDB 10.6, or later, for any number of processes (interface section 6). Its
 * tables, and yours that `work` writes to, must be InnoDB.
 *
 * The event, the payment's latest change and everything that `work` writes through `tx` are in one
 * transaction, so the effect of a change happens exactly once. What `work` does elsewhere (a mail,
 * another database, the pool instead of `tx`) is not undone with it and may happen again.
 *
 * `tx` is the pool's own connection, at READ COMMITTED, on which a transaction that `work` begins is a
 * savepoint: so are an ORM's nested ones. A COMMIT or ROLLBACK without a BEGIN of the work is refused, and
 * so is what the server commits for as a side effect: CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES, SET
 * autocommit. `release()` does nothing. Where a procedure of yours commits, nothing is recorded and the
 * callback fails. Await every query: `work` that returns before one has ended is undone, and one that is sent
 * later is refused. What is set for the session (SET, GET_LOCK, USE) stays on the connection when
 * it goes back to the pool.
 *
 * `work` that uses the pool instead of `tx` while all of its connections are taken by such work waits
 * for a connection that comes free only when `work` has ended, until `idleTimeoutMs` ends that.
 *
 * Concurrent callbacks for one payment run one after another in the order in which they reached
 * the server, from any number of processes; each waits `lockTimeoutMs` at most. Of 65,536 payments one
 * shares its lock with another, and they wait for each other as well. When the connection is lost, the
 * callback fails at once and does not wait for `work`: stop it by its `signal`, as a later delivery
 * may run meanwhile.
 *
 * @example
 * ```ts
 * import { mysqlInbox } from 'merchant-payments/inbox/mysql';
 * import mysql from 'mysql2/promise';
 *
 * const pool = mysql.createPool(process.env.MYSQL_URL ?? '');
 *
 * const inbox = mysqlInbox(pool);
 * await inbox.setup();
 *
 * const event = {
 *   paymentReference: 'PAY-1',
 *   key: 'PAY-1-paid',
 *   occurredAt: new Date('2026-01-02T03:04:05Z'),
 *   processStale: false,
 * };
 * const outcome = await inbox.process(event, async ({ tx }) => {
 *   await tx.query('UPDATE orders SET paid = true WHERE reference = ?', ['PAY-1']);
 * });
 * console.log(outcome); // 'processed', and 'duplicate' from then on
 * ```
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlInbox<Pool extends MysqlPoolLike>(
  pool: Pool,
  options?: MysqlInboxOptions,
): MysqlInbox<MysqlTransactionOf<Pool>>;
/**
 * The same, with a `tx` of a type that you name.
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlInbox<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  options?: MysqlInboxOptions,
): MysqlInbox<Tx>;
export function mysqlInbox<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  options: MysqlInboxOptions = {},
): MysqlInbox<Tx> {
  assertPool(pool);
  const { prefix, ...timeouts } = resolveOptions(options, inboxRules);
  const tables = quoteTables(prefix);
  const transactions = mysqlTransactions(pool, timeouts);
  const record = new EventRecord(tables, timeouts);
  const turns = new Turns();
  const entrances = new Turns();

  const processInTurn = async (
    event: StoredEvent,
    leftMs: number,
    onInLine: () => void,
    work: (context: InboxContext<Tx>) => Promise<void>,
  ): Promise<InboxOutcome> => {
    const ended = await transactions.run<{ found: 'processed' } | Unclaimed>(async (connection) => {
      const claim = await record.claim(connection, event, leftMs, onInLine);
      if (claim.found !== 'claimed') return { end: 'rollback', result: claim };
      const { stale } = claim;
      await withSavepoints(connection.tx, (tx) => work(new WorkContext(tx, stale, connection)));
      return { end: 'commit', result: { found: 'processed' }, statements: claim.record };
    });
    // From now on the record does without them.
    if (ended.found === 'no procedures') return processInTurn(event, leftMs, onInLine, work);
    return ended.found;
  };

  const inbox: MysqlInbox<Tx> = {
    async process(event, work) {
      const stored = toStoredEvent(event);
      // Other changes of the payment wait at the server, where those of all processes are in one order.
      const name = `${stored.reference} ${stored.key}`;
      const outcome = await turns.take(name, timeouts.lockTimeoutMs, async (leftMs) => {
        let running: Promise<InboxOutcome> | undefined;
        // One that is still being connected would be overtaken by the next.
        await entrances.take(stored.reference, leftMs, (stillLeftMs) => {
          return new Promise<void>((onInLine) => {
            running = processInTurn(stored, stillLeftMs, onInLine, work);
            running.then(() => onInLine(), onInLine);
          });
        });
        return running;
      });
      return outcome ?? 'busy';
    },

    async setup() {
      await setup(transactions, tables, timeouts);
      record.expectProcedures();
    },
    prune: (olderThan) => prune(transactions, timeouts, tables, olderThan),
  };
  return markDatabase(inbox, pool);
}

// The signal is made when it is asked for: it costs more than the rest, and most work never looks.
class WorkContext<Tx> implements InboxContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly #connection: { readonly signal: AbortSignal };

  constructor(tx: Tx, stale: boolean, connection: { readonly signal: AbortSignal }) {
    this.tx = tx;
    this.stale = stale;
    this.#connection = connection;
  }

  get signal(): AbortSignal {
    return this.#connection.signal;
  }
}

function toStoredEvent(event: InboxEvent): StoredEvent {
  return {
    reference: toStoredName(event.paymentReference),
    key: toStoredName(event.key),
    occurredAtUs: String(toEpochMicroseconds(event)),
    processStale: event.processStale,
  };
}
