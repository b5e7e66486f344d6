import { expect, it } from 'vitest';
import * as mysql from '../../src/mysql/failures.js';
import * as postgres from '../../src/postgres/failures.js';
import { customer } from './planted.js';
import { leaksIn } from './watch.js';

/** An ORM's error for a statement without an answer, as Drizzle and Knex make it. */
const lost = () => {
  const query = `INSERT INTO payment_store_payments VALUES ('${customer}')`;
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  return Object.assign(new Error(`Failed query: ${query}`, { cause }), { query });
};

it.each([
  ['Postgres', postgres],
  ['MySQL', mysql],
])('the cause of a connection that an ORM has lost to %s has no statement', (_, engine) => {
  const error = engine.failures.endUnknown(engine.failures.causeOf(lost()));
  expect(leaksIn(lost())).not.toEqual([]);
  expect(leaksIn(error)).toEqual([]);
  expect(error.cause).toMatchObject({ message: 'the driver failed (ECONNRESET)' });
});

it.each([
  ['Postgres', postgres, { code: '57P01' }],
  ['MySQL', mysql, { errno: 1927, sqlState: '70100', code: 'ER_CONNECTION_KILLED' }],
])('the answer of %s, which an ORM has wrapped, has no statement', (_, engine, fields) => {
  const query = `SELECT '${customer}'`;
  const cause = Object.assign(new Error('ended'), fields, { query, sql: query });
  const found = engine.failures.causeOf(Object.assign(new Error(query, { cause }), { query }));
  expect(leaksIn(found)).toEqual([]);
  expect(found).toMatchObject(fields);
});
