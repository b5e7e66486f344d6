import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { change } from '../change.js';
import { useSchema } from '../server.js';
import { orms } from './orms.js';

const { openPool, statusesOf } = useSchema('mp_orms');

describe.skipIf(!process.env['DATABASE_URL'])('work through an ORM on tx', () => {
  const store = postgresStore<pg.PoolClient>(openPool());

  it.each(orms)('is done once by $name', async ({ name, on }) => {
    let runs = 0;
    const deliver = () =>
      outcomeOf(store, change(name), async ({ tx }) => {
        runs += 1;
        await on(tx).insert(name, `run ${runs}`);
      });
    expect([await deliver(), await deliver()]).toEqual(['processed', 'duplicate']);
    expect(await statusesOf(name)).toEqual(['run 1']);
  });
});
