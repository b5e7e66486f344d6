import mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { failures } from '../../src/mysql/failures.js';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { unusedClient } from '../store/unused-client.js';

// Connects only when it is used, and then to no server.
const pool = mysql.createPool('mysql://u:secret@127.0.0.1:1/db');

it.each([undefined, null, 'text', new Error('out of stock')])(
  'a connection is kept when the work throws %o',
  (thrown) => {
    expect(failures.spoilsConnection(thrown)).toBe(false);
  },
);

describe('the cause of a failed step', () => {
  const causeOf = (error: unknown) => (failures.explain(error) as Error).cause;

  it('names the failure of a connection', async () => {
    const store = mysqlStore(pool, { client: unusedClient });
    await expect(store.get('order-1')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('names the error of the server, without the statement', () => {
    const refused = Object.assign(new Error("near 'order-1'"), {
      code: 'ER_BAD_NULL_ERROR',
      errno: 1048,
      sqlState: '23000',
      sqlMessage: "near 'order-1'",
      sql: 'INSERT',
    });
    expect(causeOf(refused)).toEqual(
      Object.assign(new Error('the server refused with 1048 (ER_BAD_NULL_ERROR)'), {
        code: 'ER_BAD_NULL_ERROR',
        errno: 1048,
        sqlState: '23000',
      }),
    );
  });

  it('has only the number of an error that the driver does not know', () => {
    const refused = { errno: 4999, sqlState: 'HY000', sqlMessage: 'secret' };
    expect(causeOf(refused)).toMatchObject({
      message: 'the server refused with 4999',
      code: undefined,
    });
  });
});
