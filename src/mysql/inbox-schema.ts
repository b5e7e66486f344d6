import { StoreError } from '../errors.js';
import { resolveOptions } from '../protocol/options.js';
import { createStep } from '../store/store-failure.js';
import { isMissingTable, misunderstanding, OUTSIDE_CLAIM } from './failures.js';
import {
  type MysqlInboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './inbox-options.js';
import {
  forgetFailure,
  insertEvent,
  LOCKS,
  lockRow,
  selectEvents,
  selectState,
  WAIT,
} from './inbox-statements.js';
import { ASSERT_BEGUN, BEGIN, COMMIT, limitSession, RESTORE } from './session.js';

/**
 * Returns the SQL that creates the tables and procedures of a `mysqlInbox`, for migrations that run under
 * another user than the application's: statements to run in this order, without a final semicolon. Existing tables are
 * kept. With the default prefix, `schema.sql` has the same statements as a script for the command line.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function mysqlInboxSchema(options: MysqlInboxSchemaOptions = {}): string[] {
  const { prefix } = resolveOptions(options, schemaRules);
  const tables = quoteTables(prefix);
  const { events, locks, fill, failures } = createTables(tables);
  const procedures = Object.values(createProcedures(tables)).flatMap(({ drop, create }) => [
    drop,
    create,
  ]);
  return [events, locks, fill, failures, ...procedures];
}

/** Formats statements as a script for the `mysql` command line, which splits at semicolons. */
export function toScript(statements: readonly string[]): string {
  const parts = statements.map((statement) =>
    statement.includes(';') ? `DELIMITER //\n${statement} //\nDELIMITER ;` : `${statement};`,
  );
  return `${parts.join('\n\n')}\n`;
}

// The type of a stored name. Compared bytewise: case matters.
const NAME = 'varchar(128) CHARACTER SET ascii COLLATE ascii_bin';

// The type of ASCII JSON.
const JSON_TEXT = 'text CHARACTER SET ascii COLLATE ascii_bin';

/** The statements that create the tables if they do not exist, and fill the table of locks. */
export function createTables({ events, locks, failures }: QuotedTables) {
  return {
    events: `-- One row for each processed change. No second index, which would cost each change a write.
CREATE TABLE IF NOT EXISTS ${events} (
  payment_reference ${NAME} NOT NULL,
  event_key ${NAME} NOT NULL,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  -- When the newest change of the payment processed so far happened: the watermark after this change.
  latest_us bigint NOT NULL,
  -- When it was processed.
  processed_at_us bigint NOT NULL,
  PRIMARY KEY (payment_reference, event_key)
) ENGINE = InnoDB`,
    locks: `-- Rows whose locks serialize the changes of a payment.
CREATE TABLE IF NOT EXISTS ${locks} (
  lock_number int unsigned NOT NULL PRIMARY KEY,
  -- A random number of the last transaction that wrote it, if an ORM owns that transaction.
  holder bigint NOT NULL DEFAULT 0
) ENGINE = InnoDB`,
    failures: `-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS ${failures} (
  payment_reference ${NAME} NOT NULL,
  event_key ${NAME} NOT NULL,
  -- Both names as JSON, if either is stored above as a digest.
  full_names medium${JSON_TEXT},
  -- When the change happened, in microseconds since 1970, as are the other times.
  occurred_at_us bigint NOT NULL,
  attempts int NOT NULL,
  first_failed_at_us bigint NOT NULL,
  last_failed_at_us bigint NOT NULL,
  parked boolean NOT NULL,
  -- JSON with name, code and message.
  error ${JSON_TEXT} NOT NULL,
  -- With keepBodies.
  raw_body longblob,
  PRIMARY KEY (payment_reference, event_key),
  KEY by_time (first_failed_at_us)
) ENGINE = InnoDB`,
    fill: `INSERT IGNORE INTO ${locks} (lock_number)
SELECT a.n + 16 * b.n + 256 * c.n + 4096 * d.n FROM ${['a', 'b', 'c', 'd'].map((name) => `(${SIXTEEN}) AS ${name}`).join(', ')}`,
  };
}

const SIXTEEN = Array.from(
  { length: LOCKS ** (1 / 4) },
  (_, n) => `SELECT ${n}${n === 0 ? ' AS n' : ''}`,
).join(' UNION ALL ');

/** The statements that create the procedures, and those that drop earlier ones. */
export function createProcedures(tables: QuotedTables) {
  const { claim, record, events, locks, failures } = tables;
  const reference = 'of_payment';
  return {
    claim: {
      drop: `DROP PROCEDURE IF EXISTS ${claim}`,
      create: `-- Begins the transaction of a callback, locks its payment, and returns the state of the payment.
CREATE PROCEDURE ${claim}(IN of_payment ${NAME}, IN lock_seconds int, IN idle_seconds int)
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE locked int unsigned;
  DECLARE known ${NAME};
  ${limitSession('lock_seconds', 'idle_seconds')};
  ${BEGIN.join(';\n  ')};
  SELECT lock_number INTO locked FROM ${locks} WHERE lock_number = ${lockRow(reference)} FOR UPDATE SKIP LOCKED;
  -- The client waits instead, by a statement whose limit can be shorter than a second.
  IF locked IS NULL THEN
    SELECT '${WAIT}';
  ELSE
    -- Into a variable, because MariaDB locks the rows that the condition of an IF reads.
    SELECT MAX(event_key) INTO known FROM ${failures} WHERE payment_reference = ${reference};
    IF known IS NOT NULL THEN
      ${selectState(tables, reference).replaceAll('\n', '\n    ')};
    ELSE
      -- No result for the first change of a payment: one without rows costs the client five packets.
      SELECT MAX(event_key) INTO known FROM ${events} WHERE payment_reference = ${reference};
      IF known IS NOT NULL THEN
        ${selectEvents(tables, reference)};
      END IF;
    END IF;
  END IF;
END`,
    },
    record: {
      drop: `DROP PROCEDURE IF EXISTS ${record}`,
      create: `-- Records a change as processed and commits, only in the transaction that claimed it.
CREATE PROCEDURE ${record}(IN of_payment ${NAME}, IN with_key ${NAME}, IN happened_at_us bigint, IN latest_at_us bigint, IN has_failed boolean)
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  BEGIN
    DECLARE EXIT HANDLER FOR 1305
      SIGNAL SQLSTATE '${OUTSIDE_CLAIM}' SET MESSAGE_TEXT = 'not in the transaction of the claim';
    ${ASSERT_BEGUN};
  END;
  ${insertEvent(tables, { reference, key: 'with_key', occurredAtUs: 'happened_at_us', latestUs: 'latest_at_us' })};
  IF has_failed THEN
    ${forgetFailure(tables, { reference, key: 'with_key' })};
  END IF;
  ${COMMIT};
  ${RESTORE};
END`,
    },
  };
}

/** Replaces the error of a statement on the inbox's tables, if its cause is known. */
export function explainMissing(error: unknown): unknown {
  if (isMissingTable(error)) return missingTables(error);
  const message = misunderstanding(error, 'inbox');
  return message === undefined ? error : new StoreError('STORE_FAILED', message, { cause: error });
}

export function missingTables(cause?: unknown): StoreError {
  return new StoreError(
    'MISSING_TABLES',
    "A table of the inbox, or the pool's database itself, does not exist, or a table lacks rows or columns; create the database if it is missing, then call setup() of the inbox once before its first callback, or run the SQL of mysqlInboxSchema() (with the default prefix: schema.sql of this package)",
    { cause },
  );
}

/** Wraps the failure of a step. */
export const asStep = /* @__PURE__ */ createStep(
  'The database, or the connection to it,',
  explainMissing,
);
