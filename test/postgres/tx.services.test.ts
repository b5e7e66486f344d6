import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeTx } from '../store/sql/tx-cases.js';
import { change } from './change.js';
import { useSchema } from './server.js';

const { openPool, statusesOf } = useSchema('mp_tx');

describe.skipIf(!process.env['DATABASE_URL'])('tx of a pool of pg', () => {
  const pool = openPool({ max: 1 });
  const store = postgresStore<pg.PoolClient>(pool);

  const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'new')`;

  describeTx({
    store,
    send: (tx, sql) => tx.query(sql),
    statuses: statusesOf,
    ends: [
      [['COMMIT'], 'ended the transaction'],
      [['ROLLBACK'], 'ended the transaction'],
      [['COMMIT', 'BEGIN'], 'ended the transaction'],
      [['ROLLBACK', 'BEGIN'], 'ended the transaction'],
      [['SELECT 1; COMMIT AND CHAIN'], 'ended the transaction'],
      [['SELECT nothing'], 'the work continued'],
    ],
  });

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
    expect(await statusesOf('client')).toEqual(['new', 'released']);
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
});
