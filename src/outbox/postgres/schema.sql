-- One row for each payment that is to be created.
CREATE TABLE IF NOT EXISTS "payment_outbox_payments" (
  -- The merchant's reference, or a digest of one that is long or odd.
  reference text COLLATE "C" PRIMARY KEY,
  -- JSON of what is sent, and a digest of it.
  body text NOT NULL,
  digest text NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state text NOT NULL,
  -- Who is sending it, and until when that process counts as alive.
  owner text,
  lease_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  recorded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz(3),
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- What the service has: its own reference, JSON of the record, and when that is from, in microseconds
  -- since 1970.
  reference_number text COLLATE "C",
  payment text,
  payment_updated_at_us bigint,
  -- JSON of how the last attempt failed.
  failure text
) WITH (fillfactor = 80);

-- For recover() and unresolved(): holds what is not over, which is little.
CREATE INDEX IF NOT EXISTS "payment_outbox_payments_open"
  ON "payment_outbox_payments" (state) WHERE state NOT IN ('created', 'rejected');

-- For prune().
CREATE INDEX IF NOT EXISTS "payment_outbox_payments_recorded_at"
  ON "payment_outbox_payments" (recorded_at);

-- One row for each payment that the service has beside the first of its reference.
CREATE TABLE IF NOT EXISTS "payment_outbox_second_payments" (
  reference text COLLATE "C" NOT NULL,
  reference_number text COLLATE "C" NOT NULL,
  -- JSON of what was sent for the reference.
  body text NOT NULL,
  -- JSON of the record, and when that is from, in microseconds since 1970.
  payment text NOT NULL,
  payment_updated_at_us bigint,
  found_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (reference, reference_number)
);
