-- One row for each payment to create. Times are in milliseconds since 1970, except where the name says us.
CREATE TABLE IF NOT EXISTS `payment_outbox_payments` (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  reference varchar(128) NOT NULL PRIMARY KEY,
  -- The request body as JSON, and its digest.
  body longtext NOT NULL,
  digest varchar(128) NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state varchar(128) NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner varchar(128),
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service: its reference, its record as JSON, and the time of the record.
  reference_number varchar(128),
  payment longtext,
  payment_updated_at_us bigint,
  -- Why the last attempt failed, as JSON.
  failure longtext,
  -- For recover(), unresolved() and prune().
  KEY state_changed_at_ms (state, changed_at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS `payment_outbox_second_payments` (
  reference varchar(128) NOT NULL,
  reference_number varchar(128) NOT NULL,
  -- The request body that was sent for the reference, as JSON.
  body longtext NOT NULL,
  -- The record as JSON, and its time.
  payment longtext NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;
