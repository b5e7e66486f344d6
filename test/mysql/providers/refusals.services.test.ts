import { drizzle } from 'drizzle-orm/mysql2';
import { expect, it } from 'vitest';
import { fromDrizzle } from '../../../src/mysql/index.js';

it('takes no Drizzle on a single connection, where two callbacks would be in one transaction', () => {
  const connection = { beginTransaction() {}, query() {} };
  expect(() => fromDrizzle(drizzle({ client: connection as never }))).toThrow(
    'one on a single connection; make it on a pool',
  );
});
