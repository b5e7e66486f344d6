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
