CREATE TABLE orders (
  reference varchar(200) COLLATE utf8mb4_bin PRIMARY KEY -- the merchantPaymentReference
            CHECK (reference NOT LIKE '% '),
  status    varchar(50)                                  -- of the payment, from its newest callback
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE shipments (
  reference varchar(200) COLLATE utf8mb4_bin PRIMARY KEY,
  FOREIGN KEY (reference) REFERENCES orders (reference)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
