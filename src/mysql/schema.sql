-- One row for each order. Times are in milliseconds since 1970, except where the name says us.
CREATE TABLE IF NOT EXISTS `payment_store_payments` (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference varchar(128) NOT NULL,
  -- The request body as JSON, and its digest.
  body longtext NOT NULL,
  digest varchar(128) NOT NULL,
  -- recorded, sending, created, unheard (created, no callback yet), missed (the same, and found with a status), rejected, unresolved, or elsewhere (not created by the store).
  state varchar(128) NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner varchar(128),
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service.
  reference_number varchar(128),
  -- Its record as JSON, and the time of that.
  payment longtext,
  payment_updated_at_us bigint,
  -- Of a missed payment: the status that lookUp has found, as JSON.
  found_status longtext,
  -- When lookUp is asked next; NULL for the next pass.
  look_at_ms bigint,
  -- The payment that has paid the order: on the first row and its own.
  paid_by varchar(128),
  -- Of a later attempt at an order: its first reference, as JSON.
  order_name longtext,
  -- The reference that has replaced this one, as JSON.
  replaced_by longtext,
  -- Why the last attempt failed, as JSON.
  failure longtext,
  -- 1 once the work of one of its changes has failed.
  has_failed int,
  PRIMARY KEY (merchant_payment_reference),
  KEY state (state, changed_at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row for each processed change of a payment.
CREATE TABLE IF NOT EXISTS `payment_store_changes` (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference varchar(128) NOT NULL,
  -- The service's reference, stored in the same way.
  reference_number varchar(128) NOT NULL,
  change_key varchar(128) NOT NULL,
  occurred_at_us bigint NOT NULL,
  -- Of the newest change: its half microseconds, plus 1 if it is paid.
  latest_rank bigint NOT NULL,
  processed_at_ms bigint NOT NULL,
  PRIMARY KEY (merchant_payment_reference, reference_number, change_key),
  KEY processed (processed_at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS `payment_store_failed_changes` (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  merchant_payment_reference varchar(128) NOT NULL,
  -- The service's reference, stored in the same way.
  reference_number varchar(128) NOT NULL,
  change_key varchar(128) NOT NULL,
  -- The three names in full, as JSON.
  full_names longtext NOT NULL,
  occurred_at_us bigint NOT NULL,
  attempts int NOT NULL,
  first_failed_at_ms bigint NOT NULL,
  last_failed_at_ms bigint NOT NULL,
  parked int NOT NULL,
  -- Why it last failed, as JSON.
  error longtext NOT NULL,
  -- The body as received, in base64, until prune() removes it.
  raw_body longtext,
  PRIMARY KEY (merchant_payment_reference, reference_number, change_key),
  KEY age (first_failed_at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS `payment_store_second_payments` (
  merchant_payment_reference varchar(128) NOT NULL,
  reference_number varchar(128) NOT NULL,
  -- The record as JSON, and its time.
  payment longtext NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (merchant_payment_reference, reference_number)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;
