import { claimAnswer, lockKey, OUTSIDE_CLAIM, recordEvent } from './statements.js';
import type { QuotedTables } from './tables.js';

// Parameters are named apart from the columns.
const PARAMETERS = {
  reference: 'of_payment',
  key: 'with_key',
  occurredAtUs: 'happened_at_us',
} as const;
const DECLARED = 'of_payment text, with_key text, happened_at_us bigint';

/** The statement that makes the function behind `BEGIN`. */
export function createClaim({ payments, events, claim, record }: QuotedTables): string {
  const schema = `(SELECT pronamespace::regnamespace::text FROM pg_proc WHERE oid = '${record}'::regproc)`;
  return `-- Has the changes of a payment wait for each other, and looks what is known of this one.
CREATE OR REPLACE FUNCTION ${claim}(
  in_table regclass, ${DECLARED}, lock_timeout text, idle_timeout text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint := ${lockKey(PARAMETERS.reference, 'in_table')};
  lock_timeout_before text := current_setting('lock_timeout');
  ignored text := set_config('idle_in_transaction_session_timeout', idle_timeout, true);
BEGIN
  IF in_table <> '${payments}'::regclass THEN
    RAISE EXCEPTION 'the function is not for %', in_table USING ERRCODE = 'undefined_function';
  END IF;
  IF current_setting('synchronous_commit') = 'off' THEN
    ignored := set_config('synchronous_commit', 'on', true);
  END IF;
  IF NOT pg_try_advisory_xact_lock(lock_key) THEN
    ignored := set_config('lock_timeout', lock_timeout, true);
    ignored := pg_advisory_xact_lock(lock_key);
    ignored := set_config('lock_timeout', lock_timeout_before, true);
  END IF;
  RETURN ${claimAnswer({ payments, events }, PARAMETERS, schema)};
END $$`;
}

/** The statement that makes the function before `COMMIT`. */
export function createRecord({ payments, events, record }: QuotedTables): string {
  const [outsideClaim] = OUTSIDE_CLAIM;
  return `-- Marks a change as processed, in the transaction that claimed it and in no other.
CREATE OR REPLACE FUNCTION ${record}(
  ${DECLARED}, claimed_by bigint, path_of_claim text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ignored text;
BEGIN
  IF txid_current() <> claimed_by THEN
    RAISE EXCEPTION 'not in the transaction of the claim' USING ERRCODE = '${outsideClaim}';
  END IF;
  -- The work may have changed it, and the tables are those of the claim.
  IF current_setting('search_path') <> path_of_claim THEN
    ignored := set_config('search_path', path_of_claim, true);
  END IF;
  ${recordEvent({ payments, events }, PARAMETERS).replaceAll('\n', '\n  ')};
END $$`;
}
