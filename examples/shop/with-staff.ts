// The shop with a page for staff, at /staff: docs/order-from-checkout-to-paid.md, in the repository.
//
//   psql "$DATABASE_URL" -f examples/shop/schema.sql
//   npx tsx examples/shop/with-staff.ts
//
// It reads what main.ts reads, and STAFF_TOKEN, the password of /staff: 16 characters or more.

import { app, onError } from './main.js';
import { staff } from './staff.js';

app.use('/staff', staff, onError);
