CREATE TABLE orders (
  reference  text PRIMARY KEY,  -- the merchantPaymentReference
  status     text,              -- of the payment, from its newest callback
  paid_by    text,              -- the referenceNumber of the payment that was paid
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE shipments (reference text PRIMARY KEY REFERENCES orders);
