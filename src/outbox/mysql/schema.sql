-- One row for each payment that is to be created.
CREATE TABLE IF NOT EXISTS `payment_outbox_payments` (
  -- The merchant's reference, or a digest of one that is long or odd.
  reference varchar(128) NOT NULL PRIMARY KEY,
  -- JSON of what is sent, and a digest of it.
  body longtext NOT NULL,
  digest varchar(64) NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state varchar(16) NOT NULL,
  -- Who is sending it, and until when that process counts as alive. Times are in milliseconds since 1970.
  owner varchar(64),
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- What the service has: its own reference, JSON of the record, and when that is from, in microseconds
  -- since 1970.
  reference_number varchar(128),
  payment longtext,
  payment_updated_at_us bigint,
  -- JSON of how the last attempt failed.
  failure longtext,
  -- For recover(), unresolved() and prune().
  KEY state_changed_at_ms (state, changed_at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row for each payment that the service has beside the first of its reference.
CREATE TABLE IF NOT EXISTS `payment_outbox_second_payments` (
  reference varchar(128) NOT NULL,
  reference_number varchar(128) NOT NULL,
  -- JSON of what was sent for the reference.
  body longtext NOT NULL,
  -- JSON of the record, and when that is from, in microseconds since 1970.
  payment longtext NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;
