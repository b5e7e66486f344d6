CREATE TABLE orders (
  reference  text PRIMARY KEY,                 -- the merchantPaymentReference
  creation   text NOT NULL DEFAULT 'sending',  -- of the payment: sending, created, failed, unknown
  status     text,                             -- of the payment, from its newest callback
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE shipments (reference text PRIMARY KEY REFERENCES orders);
