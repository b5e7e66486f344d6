-- One row for each payment to create. Times are in milliseconds since 1970, except where the name says us.
CREATE TABLE IF NOT EXISTS "payment_outbox_payments" (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  reference text COLLATE "C" NOT NULL PRIMARY KEY,
  -- The request body as JSON, and its digest.
  body text NOT NULL,
  digest text COLLATE "C" NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state text COLLATE "C" NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner text COLLATE "C",
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service: its reference, its record as JSON, and the time of the record.
  reference_number text COLLATE "C",
  payment text,
  payment_updated_at_us bigint,
  -- Why the last attempt failed, as JSON.
  failure text
) WITH (fillfactor = 80);

-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS "payment_outbox_second_payments" (
  reference text COLLATE "C" NOT NULL,
  reference_number text COLLATE "C" NOT NULL,
  -- The request body that was sent for the reference, as JSON.
  body text NOT NULL,
  -- The record as JSON, and its time.
  payment text NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
) WITH (fillfactor = 80);

-- For recover(), unresolved() and prune().
CREATE INDEX IF NOT EXISTS "payment_outbox_payments_state"
  ON "payment_outbox_payments" (state, changed_at_ms);
