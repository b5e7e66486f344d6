import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { change } from '../change.js';
import { useSchema } from '../server.js';
import { type OrmTransaction, orms } from './orms.js';

const { openPool, observer } = useSchema('mp_orms');

describe.skipIf(!process.env['DATABASE_URL'])('work through an ORM on tx', () => {
  const store = postgresStore<pg.PoolClient>(openPool());

  describe.each(orms)('$name', ({ name, on }) => {
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
          await work(on(tx), put, run);
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
  });
});

type Put = (db: OrmTransaction, status: string) => Promise<unknown>;
