-- One row for each payment.
CREATE TABLE IF NOT EXISTS "payment_inbox_payments" (
  payment_reference text PRIMARY KEY,
  -- When the latest processed change happened, in microseconds since 1970.
  occurred_at_us bigint,
  -- When a change was last processed. Not indexed, so that a later change is a HOT update.
  changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 90);

-- One row for each processed change.
CREATE TABLE IF NOT EXISTS "payment_inbox_events" (
  payment_reference text NOT NULL,
  key text NOT NULL,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payment_reference, key)
);

-- For prune().
CREATE INDEX IF NOT EXISTS "payment_inbox_events_processed_at"
  ON "payment_inbox_events" (processed_at);

-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS "payment_inbox_failures" (
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
);

-- For failedChanges() and prune().
CREATE INDEX IF NOT EXISTS "payment_inbox_failures_by_time"
  ON "payment_inbox_failures" (first_failed_at);

-- The first and last statement of a callback. As functions, so that Postgres plans them once per connection.
DO $do$
DECLARE
  payments text := (SELECT format('%s.%I', relnamespace::regnamespace, relname)
    FROM pg_class WHERE oid = '"payment_inbox_payments"'::regclass);
  events text := (SELECT format('%s.%I', relnamespace::regnamespace, relname)
    FROM pg_class WHERE oid = '"payment_inbox_events"'::regclass);
  failures text := (SELECT format('%s.%I', relnamespace::regnamespace, relname)
    FROM pg_class WHERE oid = '"payment_inbox_failures"'::regclass);
  home text := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = '"payment_inbox_events"'::regclass);
BEGIN
  -- Serializes the changes of a payment, and reads the state of this one.
  EXECUTE format($create$
CREATE OR REPLACE FUNCTION %3$s."payment_inbox_claim_v1"(
  in_table regclass, of_payment text, with_key text, happened_at_us bigint, lock_timeout text, idle_timeout text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint := hashtextextended(of_payment, in_table::oid::bigint);
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
  answer := CASE
    WHEN EXISTS (SELECT FROM %2$s WHERE payment_reference = of_payment AND key = with_key) THEN 'duplicate'
    ELSE json_build_array(
      CASE WHEN (SELECT occurred_at_us > happened_at_us FROM %1$s WHERE payment_reference = of_payment)
        THEN 'stale' ELSE 'claimed' END,
      txid_current()::text, current_setting('role'), %3$L,
      coalesce((SELECT string_agg(CASE WHEN key <> with_key THEN 'blocked' WHEN parked THEN 'parked' ELSE 'failed' END, ' ')
        FROM %4$s AS failure WHERE payment_reference = of_payment AND (key = with_key
          OR parked AND (occurred_at_us, key) < (happened_at_us, with_key) AND NOT EXISTS (SELECT FROM %2$s AS event
            WHERE event.payment_reference = failure.payment_reference AND event.key = failure.key))), ''))::text
  END;
  ignored := set_config('lock_timeout', lock_timeout_before, true);
  RETURN answer;
END $$
$create$, payments, events, home, failures);

  -- Records a change as processed, only in the transaction that claimed it.
  EXECUTE format($create$
CREATE OR REPLACE FUNCTION %3$s."payment_inbox_record_v1"(
  of_payment text, with_key text, happened_at_us bigint, claimed_by bigint, has_failed boolean
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF txid_current() <> claimed_by THEN
    RAISE EXCEPTION 'not in the transaction of the claim' USING ERRCODE = 'MP001';
  END IF;
  INSERT INTO %2$s (payment_reference, key, occurred_at_us)
    VALUES (of_payment, with_key, happened_at_us);
  INSERT INTO %1$s AS payment (payment_reference, occurred_at_us)
    VALUES (of_payment, happened_at_us)
    ON CONFLICT (payment_reference) DO UPDATE SET
      occurred_at_us = GREATEST(payment.occurred_at_us, excluded.occurred_at_us),
      changed_at = GREATEST(payment.changed_at, excluded.changed_at);
  IF has_failed THEN
    DELETE FROM %4$s WHERE payment_reference = of_payment AND key = with_key;
  END IF;
END $$
$create$, payments, events, home, failures);
END $do$;
