-- One row for each payment. Its lock makes the changes of the payment wait for each other.
CREATE TABLE IF NOT EXISTS "payment_inbox_payments" (
  payment_reference text PRIMARY KEY,
  -- When the latest processed change happened, in microseconds since 1970.
  occurred_at_us bigint,
  -- When a change was last processed.
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- For prune().
CREATE INDEX IF NOT EXISTS "payment_inbox_payments_changed_at"
  ON "payment_inbox_payments" (changed_at);

-- One row for each processed change. No foreign key: prune() clears either table by itself.
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
