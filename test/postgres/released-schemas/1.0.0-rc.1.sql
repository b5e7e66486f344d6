-- One row for each order. Times are in milliseconds since 1970, except where the name says us.
CREATE TABLE IF NOT EXISTS "payment_store_payments" (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference text COLLATE "C" NOT NULL,
  -- The request body as JSON, and its digest.
  body text NOT NULL,
  digest text COLLATE "C" NOT NULL,
  -- recorded, sending, created, unheard (created, no callback yet), missed (the same, and found with a status), rejected, unresolved, or elsewhere (not created by the store).
  state text COLLATE "C" NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner text COLLATE "C",
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service.
  reference_number text COLLATE "C",
  -- Its record as JSON, and the time of that.
  payment text,
  payment_updated_at_us bigint,
  -- Of a missed payment: the status that lookUp has found, as JSON.
  found_status text,
  -- When lookUp is asked next; NULL for the next pass.
  look_at_ms bigint,
  -- The payment that has paid the order: on the first row and its own.
  paid_by text COLLATE "C",
  -- Of a later attempt at an order: its first reference, as JSON.
  order_name text,
  -- The reference that has replaced this one, as JSON.
  replaced_by text,
  -- Why the last attempt failed, as JSON.
  failure text,
  -- 1 once the work of one of its changes has failed.
  has_failed int,
  PRIMARY KEY (merchant_payment_reference)
) WITH (fillfactor = 80);

-- For recover(), attention() and prune().
CREATE INDEX IF NOT EXISTS "payment_store_payments_state" ON "payment_store_payments" (state, changed_at_ms);

-- One row for each processed change of a payment.
CREATE TABLE IF NOT EXISTS "payment_store_changes" (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference text COLLATE "C" NOT NULL,
  -- The service's reference, stored in the same way.
  reference_number text COLLATE "C" NOT NULL,
  change_key text COLLATE "C" NOT NULL,
  occurred_at_us bigint NOT NULL,
  -- Of the newest change: its half microseconds, plus 1 if it is paid.
  latest_rank bigint NOT NULL,
  processed_at_ms bigint NOT NULL,
  PRIMARY KEY (merchant_payment_reference, reference_number, change_key)
) WITH (fillfactor = 80);

-- For prune().
CREATE INDEX IF NOT EXISTS "payment_store_changes_processed" ON "payment_store_changes" (processed_at_ms);

-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS "payment_store_failed_changes" (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference text COLLATE "C" NOT NULL,
  -- The service's reference, stored in the same way.
  reference_number text COLLATE "C" NOT NULL,
  change_key text COLLATE "C" NOT NULL,
  -- The three names in full, as JSON.
  full_names text NOT NULL,
  occurred_at_us bigint NOT NULL,
  attempts int NOT NULL,
  first_failed_at_ms bigint NOT NULL,
  last_failed_at_ms bigint NOT NULL,
  parked int NOT NULL,
  -- Why it last failed, as JSON.
  error text NOT NULL,
  -- The body as received, in base64, until prune() removes it.
  raw_body text,
  PRIMARY KEY (merchant_payment_reference, reference_number, change_key)
) WITH (fillfactor = 80);

-- For attention() and prune().
CREATE INDEX IF NOT EXISTS "payment_store_failed_changes_age" ON "payment_store_failed_changes" (first_failed_at_ms);

-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS "payment_store_second_payments" (
  merchant_payment_reference text COLLATE "C" NOT NULL,
  reference_number text COLLATE "C" NOT NULL,
  -- The record as JSON, and its time.
  payment text NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (merchant_payment_reference, reference_number)
) WITH (fillfactor = 80);
