import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing } from './change.js';
import { useSchema } from './server.js';

const { openPool, observer } = useSchema('mp_savepoints');

describe.skipIf(!process.env['DATABASE_URL'])('tx of a pool of pg', () => {
  const pool = openPool({ max: 1 });
  const store = postgresStore<pg.PoolClient>(pool);

  const statuses = async (reference: string): Promise<string[]> => {
    const { rows } = await observer.query('SELECT status FROM orders WHERE reference = $1', [
      reference,
    ]);
    return rows.map(({ status }) => status);
  };
  const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'new')`;

  it('is a client of pg, and stays the pool’s after release()', async () => {
    const outcome = await outcomeOf(store, change('client'), async ({ tx }) => {
      expect(tx).toBeInstanceOf(pg.Client);
      expect(tx.escapeIdentifier('a"b')).toBe('"a""b"');
      const { rowCount } = await tx.query(insert('client'));
      expect(rowCount).toBe(1);
      tx.release();
      await tx.query(insert('client').replace('new', 'released'));
    });
    expect(outcome).toBe('processed');
    expect(await statuses('client')).toEqual(['new', 'released']);
    expect(pool.idleCount).toBe(1);
  });

  it('hears the notices of its statements', async () => {
    const heard: (string | undefined)[] = [];
    await outcomeOf(store, change('notice'), async ({ tx }) => {
      const listen = ({ message }: { message?: string | undefined }) => heard.push(message);
      tx.on('notice', listen);
      await tx.query("DO $$ BEGIN RAISE NOTICE 'one'; END $$");
      tx.off('notice', listen);
      await tx.query("DO $$ BEGIN RAISE NOTICE 'two'; END $$");
    });
    expect(heard).toEqual(['one']);
  });

  it('takes a query object, which sends itself', async () => {
    const rows = await new Promise((resolve, reject) => {
      const reading = outcomeOf(store, change('query-object'), async ({ tx }) => {
        const query = new pg.Query<{ one: number }>('SELECT 1 AS one');
        await new Promise<void>((done) => {
          query.on('end', (result) => {
            resolve(result.rows);
            done();
          });
          tx.query(query);
        });
      });
      reading.catch(reject);
    });
    expect(rows).toEqual([{ one: 1 }]);
  });

  it('leads the error of a statement to the work', async () => {
    const failing = outcomeOf(store, change('stack'), async function shipOrder({ tx }) {
      await tx.query('SELECT 1/0');
    });
    const { stack } = await failing.catch((error) => error);
    expect(stack).toContain('shipOrder');
  });

  it('sends nothing for work that has ended, because the connection may be in another transaction', async () => {
    let late: pg.PoolClient | undefined;
    await outcomeOf(store, change('late'), async ({ tx }) => {
      late = tx;
    });
    await outcomeOf(store, change('other'), async () => {
      await expect(late?.query(insert('late'))).rejects.toThrow('The query was not sent');
    });
    expect(await statuses('late')).toEqual([]);
  });

  it('is rolled back when the work returns before its query, and runs again', async () => {
    const forgetful = outcomeOf(store, change('forgotten'), async ({ tx }) => {
      void tx.query(insert('forgotten'));
    });
    await expect(forgetful).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await statuses('forgotten')).toEqual([]);
    expect(await outcomeOf(store, change('forgotten'), nothing)).toBe('processed');
  });

  it('refuses the second of two transactions at once, whose work the first would undo', async () => {
    const failing = outcomeOf(store, change('at-once'), async ({ tx }) => {
      const run = async (status: string, end: string) => {
        await tx.query('BEGIN');
        await tx.query(insert(status));
        await tx.query(end);
      };
      await Promise.allSettled([run('at-once', 'ROLLBACK'), run('at-once', 'COMMIT')]);
    });
    await expect(failing).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await statuses('at-once')).toEqual([]);
  });

  it('refuses a COMMIT among several statements before it is sent', async () => {
    const failing = outcomeOf(store, change('several'), async ({ tx }) => {
      await tx.query(`${insert('several')}; COMMIT`);
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('Let the store end'),
    });
    expect(await statuses('several')).toEqual([]);
  });

  it('can not be made serializable in a nested transaction', async () => {
    const failing = outcomeOf(store, change('serializable'), async ({ tx }) => {
      await tx.query('BEGIN');
      await tx.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    });
    await expect(failing).rejects.toMatchObject({ code: '25001' });
  });
});
