import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { change } from '../change.js';
import { useSchema } from '../server.js';
import { type Orm, type OrmTransaction, openTypeOrm, orms } from './orms.js';

const { openPool, observer } = useSchema('mp_orms');

describe.skipIf(!process.env['DATABASE_URL'])('work through an ORM on tx', () => {
  const store = postgresStore<pg.PoolClient>(openPool());
  let typeOrm: Awaited<ReturnType<typeof openTypeOrm>>;
  beforeAll(async () => {
    typeOrm = await openTypeOrm(process.env['DATABASE_URL'] ?? '');
  });
  afterAll(() => typeOrm.end());

  const names = [...orms.map(({ name }) => name), 'TypeORM'];
  const find = (name: string): Orm => orms.find((orm) => orm.name === name) ?? typeOrm;

  describe.each(names)('%s', (name) => {
    let payments = 0;

    /** Delivers a change twice; `put` marks what it writes with the number of the run. */
    async function deliverTwice(
      work: (db: OrmTransaction, put: Put, run: number) => Promise<unknown>,
    ): Promise<{ outcomes: string[]; written: string[] }> {
      payments += 1;
      const reference = `${name}-${payments}`;
      const outcomes: string[] = [];
      let run = 0;
      for (const _ of ['delivery', 'redelivery']) {
        const processing = outcomeOf(store, change(reference), async ({ tx }) => {
          run += 1;
          const put: Put = (db, status) => db.insert(reference, `${status} ${run}`);
          await work(find(name).on(tx), put, run);
        });
        outcomes.push(await processing.catch(({ code, message }) => code ?? message));
      }
      const { rows } = await observer.query<{ status: string }>(
        'SELECT status FROM orders WHERE reference = $1 ORDER BY status',
        [reference],
      );
      return { outcomes, written: rows.map(({ status }) => status) };
    }

    it('is done once', async () => {
      const delivered = await deliverTwice((db, put) => put(db, 'outer'));
      expect(delivered).toEqual({ outcomes: ['processed', 'duplicate'], written: ['outer 1'] });
    });

    it('is done once with a nested transaction that commits', async () => {
      const delivered = await deliverTwice(async (db, put) => {
        await put(db, 'before');
        await db.nested(async (inner) => void (await put(inner, 'inner')));
        await put(db, 'then');
      });
      expect(delivered).toEqual({
        outcomes: ['processed', 'duplicate'],
        written: ['before 1', 'inner 1', 'then 1'],
      });
    });

    it.each([
      ['the work throws', () => Promise.reject(new Error('out of stock'))],
      ['a statement fails', (db: OrmTransaction) => db.fail()],
    ])('goes on after a nested transaction that is rolled back as %s', async (_, fail) => {
      const delivered = await deliverTwice(async (db, put) => {
        await put(db, 'before');
        for (const status of ['one', 'two']) {
          const failing = db.nested(async (inner) => {
            await put(inner, status);
            await fail(inner);
          });
          await expect(failing).rejects.toThrow();
        }
        await put(db, 'then');
        await db.nested(async (inner) => void (await put(inner, 'three')));
      });
      expect(delivered).toEqual({
        outcomes: ['processed', 'duplicate'],
        written: ['before 1', 'then 1', 'three 1'],
      });
    });

    it('nests deeper, and each level ends by itself', async () => {
      const delivered = await deliverTwice(async (db, put) => {
        const failing = db.nested(async (inner) => {
          await put(inner, 'undone');
          await inner.nested(async (deeper) => void (await put(deeper, 'undone with it')));
          throw new Error('out of stock');
        });
        await expect(failing).rejects.toThrow('out of stock');
        await db.nested(async (inner) => {
          await put(inner, 'inner');
          const failingDeeper = inner.nested(async (deeper) => {
            await put(deeper, 'undone');
            await deeper.fail();
          });
          await expect(failingDeeper).rejects.toThrow();
          await inner.nested(async (deeper) => void (await put(deeper, 'deeper')));
        });
      });
      expect(delivered).toEqual({
        outcomes: ['processed', 'duplicate'],
        written: ['deeper 1', 'inner 1'],
      });
    });

    it('is rolled back completely when it fails after a nested transaction, and runs again', async () => {
      const delivered = await deliverTwice(async (db, put, run) => {
        await put(db, 'outer');
        await db.nested(async (inner) => void (await put(inner, 'inner')));
        if (run === 1) throw new Error('out of stock');
      });
      expect(delivered).toEqual({
        outcomes: ['out of stock', 'processed'],
        written: ['inner 2', 'outer 2'],
      });
    });
  });
});

type Put = (db: OrmTransaction, status: string) => Promise<unknown>;
