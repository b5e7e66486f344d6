CREATE TABLE orders (
  merchant_payment_reference text PRIMARY KEY,
  reference_number           text, -- of the payment that the status belongs to
  status                     text, -- of the payment, from its newest callback
  created_at                 timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE shipments (merchant_payment_reference text PRIMARY KEY REFERENCES orders);
