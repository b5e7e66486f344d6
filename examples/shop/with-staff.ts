// The shop with a page for staff, at /staff: docs/when-something-needs-a-person.md.
//
//   psql "$DATABASE_URL" -f examples/shop/schema.sql
//   npx tsx examples/shop/with-staff.ts
//
// It reads what main.ts reads, and STAFF_TOKEN, the password of /staff: 16 characters or more.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { app, onError } from './main.js';
import { staff } from './staff.js';

const { STAFF_TOKEN = '' } = process.env;
if (STAFF_TOKEN.length < 16) {
  console.error(
    'STAFF_TOKEN is the password of /staff and needs 16 characters or more. Make one with: openssl rand -base64 24',
  );
  process.exit(1);
}

app.use('/staff', onlyStaff, staff, onError);

/** In place of your own login. */
function onlyStaff(request: Request, response: Response, next: NextFunction) {
  const [, credentials = ''] = request.headers.authorization?.split(' ') ?? [];
  const [, ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  if (timingSafeEqual(digest(password.join(':')), digest(STAFF_TOKEN))) next();
  else response.set('www-authenticate', 'Basic realm="staff"').sendStatus(401);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
