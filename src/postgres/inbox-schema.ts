import { StoreError } from '../errors.js';
import { resolveOptions } from '../protocol/options.js';
import { OUTSIDE_CLAIM } from './failures.js';
import { withoutSchema } from './names.js';
import {
  indexExists,
  indexName,
  isMissingTable,
  missingTables,
  type SchemaPart,
  tableExists,
} from './schema-parts.js';
import { createStep } from '../store/store-failure.js';
import {
  type PostgresInboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './inbox-options.js';
import { claimAnswer, forgetFailure, lockKey, recordEvent } from './inbox-statements.js';

/**
 * Returns the SQL that creates the tables and functions of a `postgresInbox`, for migrations that run under
 * another role than the application's. Existing tables are kept. With the default prefix, it is
 * the content of `schema.sql`.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function postgresInboxSchema(options: PostgresInboxSchemaOptions = {}): string {
  const { prefix } = resolveOptions(options, schemaRules);
  const statements = schemaParts(quoteTables(prefix)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}

/** The parts of the schema, in the order of their creation. */
export function schemaParts(tables: QuotedTables): SchemaPart[] {
  const { payments, events, failures } = tables;
  return [
    {
      exists: tableExists(payments),
      create: `-- One row for each payment.
CREATE TABLE IF NOT EXISTS ${payments} (
  payment_reference text PRIMARY KEY,
  -- When the latest processed change happened, in microseconds since 1970.
  occurred_at_us bigint,
  -- When a change was last processed. Not indexed, so that a later change is a HOT update.
  changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 90)`,
    },
    {
      exists: tableExists(events),
      create: `-- One row for each processed change.
CREATE TABLE IF NOT EXISTS ${events} (
  payment_reference text NOT NULL,
  key text NOT NULL,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payment_reference, key)
)`,
    },
    {
      exists: indexExists(events, 'processed_at'),
      create: `-- For prune().
CREATE INDEX IF NOT EXISTS ${indexName(events, 'processed_at')}
  ON ${events} (processed_at)`,
    },
    {
      exists: tableExists(failures),
      create: `-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS ${failures} (
  payment_reference text NOT NULL,
  key text NOT NULL,
  -- Both names as JSON, if either is stored above as a digest.
  full_names text,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  attempts integer NOT NULL,
  first_failed_at timestamptz NOT NULL DEFAULT now(),
  last_failed_at timestamptz NOT NULL DEFAULT now(),
  parked boolean NOT NULL,
  -- JSON with name, code and message.
  error text NOT NULL,
  -- With keepBodies.
  raw_body bytea,
  PRIMARY KEY (payment_reference, key)
)`,
    },
    {
      exists: indexExists(failures, 'by_time'),
      create: `-- For failedChanges() and prune().
CREATE INDEX IF NOT EXISTS ${indexName(failures, 'by_time')}
  ON ${failures} (first_failed_at)`,
    },
    { exists: functionsExist(tables), create: createFunctions(tables) },
  ];
}

// The functions are optional, since the inbox can send longer statements instead: a role that may not create them
// counts as if they existed.
function functionsExist({ events, claim, record }: QuotedTables): string {
  const names = [claim, record].map((name) => `'${withoutSchema(name).slice(1, -1)}'`);
  return `EXISTS (SELECT FROM pg_class WHERE pg_class.oid = to_regclass('${events}') AND (
  (SELECT count(DISTINCT proname) FROM pg_proc
    WHERE pronamespace = relnamespace AND proname IN (${names.join(', ')})) = ${names.length}
  OR NOT has_schema_privilege(relnamespace, 'CREATE')))`;
}

// These names must differ from those of the columns.
const PARAMETERS = {
  reference: 'of_payment',
  key: 'with_key',
  occurredAtUs: 'happened_at_us',
} as const;
const DECLARED = 'of_payment text, with_key text, happened_at_us bigint';

// Placeholders of format(): the tables with their schemas, and the schema of the events table.
const TABLES = { payments: '%1$s', events: '%2$s', failures: '%4$s' } as const;
const HOME = '%3$s';

/**
 * The statement that creates both functions. They are in the schema of the events table, and qualify all
 * table names, because their caller may have another search_path.
 */
export function createFunctions({
  payments,
  events,
  failures,
  claim,
  record,
}: QuotedTables): string {
  const [outsideClaim] = OUTSIDE_CLAIM;
  return `-- The first and last statement of a callback. As functions, so that Postgres plans them once per connection.
DO $do$
DECLARE
  payments text := (${qualifiedName(payments)});
  events text := (${qualifiedName(events)});
  failures text := (${qualifiedName(failures)});
  home text := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = '${events}'::regclass);
BEGIN
  -- Serializes the changes of a payment, and reads the state of this one.
  EXECUTE format($create$
CREATE OR REPLACE FUNCTION ${HOME}.${withoutSchema(claim)}(
  in_table regclass, ${DECLARED}, lock_timeout text, idle_timeout text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint := ${lockKey(PARAMETERS.reference, 'in_table')};
  lock_timeout_before text := current_setting('lock_timeout');
  answer text;
  ignored text := set_config('idle_in_transaction_session_timeout', idle_timeout, true);
BEGIN
  IF in_table <> %1$L::regclass THEN
    RAISE EXCEPTION 'made for another table' USING ERRCODE = 'undefined_function';
  END IF;
  IF current_setting('synchronous_commit') = 'off' THEN
    ignored := set_config('synchronous_commit', 'on', true);
  END IF;
  -- Also limits waits for the tables: a claim behind a migration must end and free its connection.
  ignored := set_config('lock_timeout', lock_timeout, true);
  ignored := pg_advisory_xact_lock(lock_key);
  answer := ${claimAnswer(TABLES, PARAMETERS, '%3$L')};
  ignored := set_config('lock_timeout', lock_timeout_before, true);
  RETURN answer;
END $$
$create$, payments, events, home, failures);

  -- Records a change as processed, only in the transaction that claimed it.
  EXECUTE format($create$
CREATE OR REPLACE FUNCTION ${HOME}.${withoutSchema(record)}(
  ${DECLARED}, claimed_by bigint, has_failed boolean
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF txid_current() <> claimed_by THEN
    RAISE EXCEPTION 'not in the transaction of the claim' USING ERRCODE = '${outsideClaim}';
  END IF;
  ${recordEvent(TABLES, PARAMETERS).join(';\n').replaceAll('\n', '\n  ')};
  IF has_failed THEN
    ${forgetFailure(TABLES, PARAMETERS)};
  END IF;
END $$
$create$, payments, events, home, failures);
END $do$`;
}

function qualifiedName(table: string): string {
  return `SELECT format('%s.%I', relnamespace::regnamespace, relname)
    FROM pg_class WHERE oid = '${table}'::regclass`;
}

/** Replaces the error of a statement on the inbox's tables with `MISSING_TABLES`, if that is its cause. */
export function explainMissing(error: unknown): unknown {
  if (!isMissingTable(error)) return error;
  const message = missingTables({
    owner: 'inbox',
    other: 'an outbox',
    use: 'callback',
    schema: 'postgresInboxSchema()',
  });
  return new StoreError('MISSING_TABLES', message, { cause: error });
}

/** Wraps the failure of a step. */
export const asStep = /* @__PURE__ */ createStep(
  'Postgres, or the connection to it,',
  explainMissing,
);
