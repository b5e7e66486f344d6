import { innermostError } from '../store/providers/driver-errors.js';
import { ServerFailures } from '../store/sql/server-failures.js';

// A digit is required, because EPIPE has five letters too.
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of a driver's error, such as `25P02`; undefined if the error is not from Postgres. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : undefined;
}

/**
 * Finds the error of Postgres in that of an ORM. Copies it without the statement, which PGlite adds; otherwise returns
 * the error unchanged.
 */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => sqlStateOf(inner) !== undefined;
  const found = innermostError(error, isOfServer, (made, { code }) =>
    sqlStateOf({ code }) === undefined ? made : Object.assign(made, { code }),
  );
  const code = sqlStateOf(found);
  if (code === undefined) return found;
  return Object.assign(new Error(String((found as Error).message)), { code });
}

// The server has become a standby or refuses writes.
const READ_ONLY = '25006';
// INSUFFICIENT_PRIVILEGE.
const DENIED = '42501';
// Postgres ends the connection; the last one is that of a transaction without statements.
const CONNECTION_ENDED = /^(?:08|57P0|25P03)/;

const REMEDIES: Readonly<Record<string, string>> = {
  '25P02': 'Your transaction has failed before: all of it must be rolled back',
  [DENIED]: 'GRANT USAGE on the schema; GRANT SELECT, INSERT, UPDATE, DELETE on the tables',
  '57014': 'A statement_timeout of role, pool or server is too short: exceed commandTimeoutMs',
  [READ_ONLY]: 'The server is read-only, such as a standby: connect to the primary',
  '53100': 'The disk of the server is full: free space on it',
};

/** The errors of Postgres, for users. */
export const failures: ServerFailures = /* @__PURE__ */ new ServerFailures({
  name: 'Postgres',
  poolRemedy: 'set connectionTimeoutMillis',
  deadlineRemedy: "the pool's query_timeout",
  endedBy: 'COMMIT or ROLLBACK',
  schema: 'postgresSchema()',
  remedyFor: (error) => REMEDIES[sqlStateOf(error) ?? ''],
  codeOf: sqlStateOf,
  endsConnection: (error) => CONNECTION_ENDED.test(sqlStateOf(error) ?? ''),
  databaseErrorOf,
  toShow: (error) => error,
  codes: {
    // UNDEFINED_DATABASE, UNDEFINED_SCHEMA, UNDEFINED_TABLE, UNDEFINED_COLUMN.
    missing: ['3D000', '3F000', '42P01', '42703'],
    denied: [DENIED],
    lockTimeout: ['55P03'],
    deadlock: ['40P01'],
    // A deadlock, and a serialization failure of roles whose default is REPEATABLE READ or SERIALIZABLE.
    undone: ['40P01', '40001'],
    // A cached plan may be for an older schema, and a new connection has none.
    spoils: [READ_ONLY, '0A000'],
    aborted: ['25P02'],
    ended: ['3B001', '25P01'],
  },
});
