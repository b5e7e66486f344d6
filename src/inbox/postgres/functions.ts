import { claimAnswer, lockKey, OUTSIDE_CLAIM, recordEvent } from './statements.js';
import { type QuotedTables, withoutSchema } from './tables.js';

// Named apart from the columns.
const PARAMETERS = {
  reference: 'of_payment',
  key: 'with_key',
  occurredAtUs: 'happened_at_us',
} as const;
const DECLARED = 'of_payment text, with_key text, happened_at_us bigint';

// Filled in by format(): the tables with their schemas, and the schema of the second.
const TABLES = { payments: '%1$s', events: '%2$s' } as const;
const HOME = '%3$s';

/**
 * The statement that makes both functions. They are beside the table of events and name the tables in
 * full: whoever calls them may have another search_path.
 */
export function createFunctions({ payments, events, claim, record }: QuotedTables): string {
  const [outsideClaim] = OUTSIDE_CLAIM;
  return `-- What a callback begins and ends with. As functions, so that Postgres plans them once a connection.
DO $do$
DECLARE
  payments text := (${inFull(payments)});
  events text := (${inFull(events)});
  home text := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = '${events}'::regclass);
BEGIN
  -- Has the changes of a payment wait for each other, and looks what is known of this one.
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
  -- For the tables too: a claim that waits for a migration must end, and give its connection back.
  ignored := set_config('lock_timeout', lock_timeout, true);
  ignored := pg_advisory_xact_lock(lock_key);
  answer := ${claimAnswer(TABLES, PARAMETERS, '%3$L')};
  ignored := set_config('lock_timeout', lock_timeout_before, true);
  RETURN answer;
END $$
$create$, payments, events, home);

  -- Marks a change as processed, in the transaction that claimed it and in no other.
  EXECUTE format($create$
CREATE OR REPLACE FUNCTION ${HOME}.${withoutSchema(record)}(
  ${DECLARED}, claimed_by bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF txid_current() <> claimed_by THEN
    RAISE EXCEPTION 'not in the transaction of the claim' USING ERRCODE = '${outsideClaim}';
  END IF;
  ${recordEvent(TABLES, PARAMETERS).replaceAll('\n', '\n  ')};
END $$
$create$, payments, events, home);
END $do$`;
}

function inFull(table: string): string {
  return `SELECT format('%s.%I', relnamespace::regnamespace, relname)
    FROM pg_class WHERE oid = '${table}'::regclass`;
}
