import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { FailedChange } from '../../src/store/attention.js';
import { emptyPglite } from '../pglite.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, nothing } from './change.js';

let database: PGlite;

beforeAll(async () => {
  database = await emptyPglite();
  await postgresStore(database).setup();
  await database.exec(`CREATE TABLE once (reference text UNIQUE DEFERRABLE INITIALLY DEFERRED);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON payment_store_failed_changes FOR EACH ROW
      WHEN (NEW.merchant_payment_reference LIKE 'unkept%') EXECUTE FUNCTION refuse()`);
});

const fail = (message = 'broken') => Promise.reject(new Error(message));

async function list(reference: string): Promise<FailedChange[]> {
  const { referenceNumber } = change(reference).payment;
  return (await collect(postgresStore(database).attention({ referenceNumber }))) as FailedChange[];
}

describe('a failure', () => {
  it('rejects as it is when it can’t be kept, which is told, and never parks then', async () => {
    const event = change('unkept', 0, { failures: { parkAfter: 1 } });
    const result = await postgresStore(database).process(event, () =>
      fail('the handler is broken'),
    );
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { message: 'the handler is broken' },
      parkedAfter: undefined,
      notKept: { code: 'STORE_FAILED', cause: { message: 'the disk is full' } },
    });
    expect(await list('unkept')).toEqual([]);
  });

  it('is forgotten in the transaction that records the change, or not at all', async () => {
    const store = postgresStore(database);
    const insert = (tx: { query(sql: string): Promise<unknown> }) =>
      tx.query("INSERT INTO once VALUES ('at commit')");
    await outcomeOf(store, change('at-commit'), () => fail()).catch(() => undefined);
    const failing = outcomeOf(store, change('at-commit'), async ({ tx }) => {
      await insert(tx);
      await insert(tx);
    });
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED', cause: { code: '23505' } });
    expect(await list('at-commit')).toMatchObject([
      { attempts: 2, error: { code: 'STORE_FAILED' } },
    ]);
    await outcomeOf(store, change('at-commit'), ({ tx }) => insert(tx).then(nothing));
    expect(await list('at-commit')).toEqual([]);
  });
});

describe('prune', () => {
  it('removes the bodies of what last failed before the time, parked or not', async () => {
    const store = postgresStore(database);
    const getRawBody = () => new Uint8Array([1]);
    for (const parkAfter of [1, undefined]) {
      const event = change(`aged-${parkAfter}`, 0, { failures: { parkAfter, getRawBody } });
      await outcomeOf(store, event, () => fail()).catch(() => undefined);
    }
    const at = (time: string) => Date.parse(time);
    await database.exec(`UPDATE payment_store_failed_changes SET first_failed_at_ms = ${at('2020-01-01')}
        WHERE merchant_payment_reference LIKE 'aged%';
      UPDATE payment_store_failed_changes SET last_failed_at_ms = ${at('2020-02-01')}
        WHERE merchant_payment_reference = 'aged-1'`);
    const bodies = async () =>
      (await Promise.all(['aged-1', 'aged-undefined'].map(list))).map(([item]) => item?.rawBody);
    expect(await store.prune(new Date('2020-01-15'))).toBe(0);
    expect(await bodies()).toEqual([getRawBody(), getRawBody()]);
    expect(await store.prune(new Date('2020-03-01'))).toBe(0);
    // The other has failed again since.
    expect(await bodies()).toEqual([undefined, getRawBody()]);
  });
});

describe('the list', () => {
  it('reads page by page, in the order of the first failures', async () => {
    await database.exec(`INSERT INTO payment_store_failed_changes
      SELECT 'pages', 'pay-pages', 'key-' || n, '["pages","pay-pages","key-' || n || '"]', 0, 1, 1000 + n % 7, 2000, 0,
        '{"name":"Error","message":""}', NULL FROM generate_series(1, 250) n`);
    const keys = (await list('pages')).map(({ key }) => key);
    const { rows } = await database.query<{ key: string }>(
      `SELECT change_key AS key FROM payment_store_failed_changes
       WHERE merchant_payment_reference = 'pages' ORDER BY first_failed_at_ms, change_key`,
    );
    expect(keys).toHaveLength(250);
    expect(keys).toEqual(rows.map(({ key }) => key));
  });

  it('says so when the table holds something else', async () => {
    await database.exec(`INSERT INTO payment_store_failed_changes
      SELECT 'other', 'pay-other', 'key', '["a","b","c"]', 0, 1, 1, 1, 0, 'customer@example.org', NULL`);
    const failing = list('other');
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(failing).rejects.not.toThrow('customer');
    await database.exec("DELETE FROM payment_store_failed_changes WHERE change_key = 'key'");
  });
});
