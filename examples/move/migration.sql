-- 1 if the store creates the order's payment. The old code does not see it.
ALTER TABLE orders ADD COLUMN in_store INTEGER NOT NULL DEFAULT 0;
