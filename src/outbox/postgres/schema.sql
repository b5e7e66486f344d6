-- One row for each payment to create.
CREATE TABLE IF NOT EXISTS "payment_outbox_payments" (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  reference text COLLATE "C" PRIMARY KEY,
  -- The request body as JSON, and its digest.
  body text NOT NULL,
  digest text NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state text NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner text,
  lease_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  recorded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz(3),
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The payment at the service: its reference, its record as JSON, and the time of the record in microseconds
  -- since 1970.
  reference_number text COLLATE "C",
  payment text,
  payment_updated_at_us bigint,
  -- Why the last attempt failed, as JSON.
  failure text
) WITH (fillfactor = 80);

-- For recover() and unresolved(). Contains only open payments, of which there are few.
CREATE INDEX IF NOT EXISTS "payment_outbox_payments_open"
  ON "payment_outbox_payments" (state) WHERE state NOT IN ('created', 'rejected');

-- For prune().
CREATE INDEX IF NOT EXISTS "payment_outbox_payments_recorded_at"
  ON "payment_outbox_payments" (recorded_at);

-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS "payment_outbox_second_payments" (
  reference text COLLATE "C" NOT NULL,
  reference_number text COLLATE "C" NOT NULL,
  -- The request body that was sent for the reference, as JSON.
  body text NOT NULL,
  -- The record as JSON, and the time of the record in microseconds since 1970.
  payment text NOT NULL,
  payment_updated_at_us bigint,
  found_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (reference, reference_number)
);
