-- One row for each processed change. No second index, which would cost each change a write.
CREATE TABLE IF NOT EXISTS `payment_inbox_events` (
  payment_reference varchar(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key varchar(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  -- When the newest change of the payment processed so far happened: the watermark after this change.
  latest_us bigint NOT NULL,
  -- When it was processed.
  processed_at_us bigint NOT NULL,
  PRIMARY KEY (payment_reference, event_key)
) ENGINE = InnoDB;

-- Rows whose locks serialize the changes of a payment.
CREATE TABLE IF NOT EXISTS `payment_inbox_locks` (
  lock_number int unsigned NOT NULL PRIMARY KEY,
  -- A random number of the last transaction that wrote it, if an ORM owns that transaction.
  holder bigint NOT NULL DEFAULT 0
) ENGINE = InnoDB;

INSERT IGNORE INTO `payment_inbox_locks` (lock_number)
SELECT a.n + 16 * b.n + 256 * c.n + 4096 * d.n FROM (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) AS a, (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) AS b, (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) AS c, (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) AS d;

-- One row for each change whose work failed and has not completed since.
CREATE TABLE IF NOT EXISTS `payment_inbox_failures` (
  payment_reference varchar(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key varchar(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Both names as JSON, if either is stored above as a digest.
  full_names mediumtext CHARACTER SET ascii COLLATE ascii_bin,
  -- When the change happened, in microseconds since 1970, as are the other times.
  occurred_at_us bigint NOT NULL,
  attempts int NOT NULL,
  first_failed_at_us bigint NOT NULL,
  last_failed_at_us bigint NOT NULL,
  parked boolean NOT NULL,
  -- JSON with name, code and message.
  error text CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- With keepBodies.
  raw_body longblob,
  PRIMARY KEY (payment_reference, event_key),
  KEY by_time (first_failed_at_us)
) ENGINE = InnoDB;

DROP PROCEDURE IF EXISTS `payment_inbox_claim_v1`;

DELIMITER //
-- Begins the transaction of a callback, locks its payment, and returns the state of the payment.
CREATE PROCEDURE `payment_inbox_claim_v1`(IN of_payment varchar(128) CHARACTER SET ascii COLLATE ascii_bin, IN lock_seconds int, IN idle_seconds int)
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE locked int unsigned;
  DECLARE known varchar(128) CHARACTER SET ascii COLLATE ascii_bin;
  SET @merchant_payments_wait_timeout = @@SESSION.wait_timeout,
  @merchant_payments_lock_wait_timeout = @@SESSION.lock_wait_timeout,
  SESSION wait_timeout = CAST(LEAST(@@SESSION.wait_timeout, idle_seconds) AS SIGNED),
  SESSION lock_wait_timeout = CAST(LEAST(@@SESSION.lock_wait_timeout, lock_seconds) AS SIGNED);
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  SAVEPOINT merchant_payments;
  SELECT lock_number INTO locked FROM `payment_inbox_locks` WHERE lock_number = CRC32(of_payment) & 65535 FOR UPDATE SKIP LOCKED;
  -- The client waits instead, by a statement whose limit can be shorter than a second.
  IF locked IS NULL THEN
    SELECT 'wait';
  ELSE
    -- Into a variable, because MariaDB locks the rows that the condition of an IF reads.
    SELECT MAX(event_key) INTO known FROM `payment_inbox_failures` WHERE payment_reference = of_payment;
    IF known IS NOT NULL THEN
      SELECT CONCAT(latest_us, ' ', event_key) FROM `payment_inbox_events` WHERE payment_reference = of_payment
      UNION ALL SELECT CONCAT(IF(parked, 'parked ', 'failed '), occurred_at_us, ' ', event_key) FROM `payment_inbox_failures` WHERE payment_reference = of_payment;
    ELSE
      -- No result for the first change of a payment: one without rows costs the client five packets.
      SELECT MAX(event_key) INTO known FROM `payment_inbox_events` WHERE payment_reference = of_payment;
      IF known IS NOT NULL THEN
        SELECT CONCAT(latest_us, ' ', event_key) FROM `payment_inbox_events` WHERE payment_reference = of_payment;
      END IF;
    END IF;
  END IF;
END //
DELIMITER ;

DROP PROCEDURE IF EXISTS `payment_inbox_record_v1`;

DELIMITER //
-- Records a change as processed and commits, only in the transaction that claimed it.
CREATE PROCEDURE `payment_inbox_record_v1`(IN of_payment varchar(128) CHARACTER SET ascii COLLATE ascii_bin, IN with_key varchar(128) CHARACTER SET ascii COLLATE ascii_bin, IN happened_at_us bigint, IN latest_at_us bigint, IN has_failed boolean)
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  BEGIN
    DECLARE EXIT HANDLER FOR 1305
      SIGNAL SQLSTATE 'MP001' SET MESSAGE_TEXT = 'not in the transaction of the claim';
    RELEASE SAVEPOINT merchant_payments;
  END;
  INSERT INTO `payment_inbox_events` (payment_reference, event_key, occurred_at_us, latest_us, processed_at_us)
  VALUES (of_payment, with_key, happened_at_us, latest_at_us, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)));
  IF has_failed THEN
    DELETE FROM `payment_inbox_failures` WHERE payment_reference = of_payment AND event_key = with_key;
  END IF;
  COMMIT AND NO CHAIN NO RELEASE;
  SET SESSION wait_timeout = CAST(COALESCE(@merchant_payments_wait_timeout, @@SESSION.wait_timeout) AS SIGNED),
  SESSION lock_wait_timeout = CAST(COALESCE(@merchant_payments_lock_wait_timeout, @@SESSION.lock_wait_timeout) AS SIGNED);
END //
DELIMITER ;
