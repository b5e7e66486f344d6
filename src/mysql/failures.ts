import { innermostError } from '../store/providers/driver-errors.js';
import { ServerFailures } from '../store/sql/server-failures.js';

/** The server's error number, such as 1213; undefined if the error is not from the server. */
export function errnoOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  // Node's own errors have a negative errno, and no SQLSTATE.
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
}

/** Finds the server's error in that of an ORM, without the statement; otherwise returns the error unchanged. */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => errnoOf(inner) !== undefined;
  const found = innermostError(error, isOfServer, (made, { code, state, message }) => {
    if (!/^\d+$/.test(String(code))) return made;
    const sqlState = typeof state === 'string' ? state : 'HY000';
    return Object.assign(made, { errno: Number(code), sqlState, sqlMessage: message });
  });
  return withoutStatement(found);
}

/** Copies a server error without the statement, which the driver adds to it. */
export function withoutStatement(error: unknown): unknown {
  if (errnoOf(error) === undefined) return error;
  const { code, errno, sqlState, sqlMessage } = error as Record<string, unknown>;
  return Object.assign(new Error(String(sqlMessage)), { code, errno, sqlState, sqlMessage });
}

// ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_SESSION_WAS_KILLED and ER_CLIENT_INTERACTION_TIMEOUT of MySQL.
const CONNECTION_ENDED: readonly unknown[] = [1053, 1927, 3169, 4031];
/** ER_SP_DOES_NOT_EXIST: the savepoint with which the work began is gone. */
export const NO_SAVEPOINT = 1305;
/** The server can't run this statement as a prepared one. */
export const UNSUPPORTED_IN_PREPARED = 1295;
/** ER_CANT_CHANGE_TX_CHARACTERISTICS: a transaction is open. */
export const IN_TRANSACTION = 1568;

const REMEDIES: Readonly<Record<number, string>> = {
  [UNSUPPORTED_IN_PREPARED]:
    'Prepared statements can have no SAVEPOINT: with Prisma set useTextProtocol: true',
  // ER_PARSE_ERROR.
  1064: 'Its sql_mode contains ORACLE, or it is older than MySQL 8.0 or MariaDB 10.6',
};

/** The errors of MySQL and MariaDB, for users. */
export const failures: ServerFailures = /* @__PURE__ */ new ServerFailures({
  name: 'The database',
  poolRemedy: 'raise its connectionLimit',
  deadlineRemedy: 'the timeout option',
  endedBy: 'COMMIT, DDL, perhaps in a procedure, or deadlock',
  schema: 'mysqlSchema()',
  remedyFor: (error) => REMEDIES[errnoOf(error) ?? 0],
  codeOf: errnoOf,
  endsConnection: (error) =>
    CONNECTION_ENDED.includes(errnoOf(error)) ||
    // The mariadb package has its own error numbers for socket errors.
    String((error as { sqlState?: unknown }).sqlState).startsWith('08'),
  databaseErrorOf,
  // Without the server's message, which may quote a reference or a part of the statement.
  toShow(error) {
    const { code, errno, sqlState } = error as Error & Record<string, unknown>;
    const name = typeof code === 'string' ? ` (${code})` : '';
    const message = `the server refused with ${errno}${name}`;
    return Object.assign(new Error(message), { code, errno, sqlState });
  },
  codes: {
    // ER_BAD_DB_ERROR and ER_NO_SUCH_TABLE; ER_BAD_FIELD_ERROR for a table of another version.
    missing: [1049, 1146, 1054],
    // ER_DBACCESS_DENIED_ERROR and ER_TABLEACCESS_DENIED_ERROR.
    denied: [1044, 1142],
    // ER_LOCK_WAIT_TIMEOUT; and the limit of the statement that waits, in MariaDB and MySQL.
    lockTimeout: [1205, 1969, 3024],
    // ER_LOCK_DEADLOCK: the server has rolled back the whole transaction.
    deadlock: [1213],
    // ER_DUP_ENTRY; ER_TABLE_NOT_LOCKED_FOR_WRITE and ER_TABLE_NOT_LOCKED, after a forgotten LOCK TABLES on the
    // session, which the start of a transaction releases.
    undone: [1213, 1062, 1099, 1100],
    // The server has become a replica or refuses writes; a session whose transactions are read-only.
    spoils: [1290, 1836, 1792],
    aborted: [],
    ended: [NO_SAVEPOINT],
  },
});
