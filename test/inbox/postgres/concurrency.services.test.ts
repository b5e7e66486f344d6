import type { PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { change, heldWork, nothing } from './payment-change.js';
import { terminate, useSchema } from './server.js';

const { openPool, observer, waitForBlocked } = useSchema('mp_inbox_concurrency');

const LONG_MS = 60_000;
const serializable = '-c default_transaction_isolation=serializable';

describe.skipIf(!process.env['DATABASE_URL']).each([
  ['read committed', ''],
  ['serializable', serializable],
])('two processes on a database whose default is %s', (level, options) => {
  const one = postgresInbox<PoolClient>(openPool({ options }), { lockTimeoutMs: LONG_MS });
  const two = postgresInbox<PoolClient>(openPool({ options }), { lockTimeoutMs: LONG_MS });

  const race = async (name: string, firstMinute: number, secondMinute: number) => {
    const reference = `${name}-${level}`;
    const held = heldWork<PoolClient>();
    let runs = 0;
    const first = one.process(change(reference, firstMinute), held.work);
    const context = await held.started;
    const second = two.process(change(reference, secondMinute), async () => {
      runs += 1;
    });
    await waitForBlocked(1);
    return { held, first, second, context, runs: () => runs };
  };

  it('make a duplicate wait, and know it when the first has committed', async () => {
    const { held, first, second, runs } = await race('commit', 1, 1);
    held.finish();
    expect(await first).toBe('processed');
    expect(await second).toBe('duplicate');
    expect(runs()).toBe(0);
  });

  it('run the duplicate when the first has failed', async () => {
    const { held, first, second, runs } = await race('rollback', 1, 1);
    held.fail('failed');
    await expect(first).rejects.toBe('failed');
    expect(await second).toBe('processed');
    expect(runs()).toBe(1);
  });

  it('make an older change wait, and know it as stale then', async () => {
    const { held, first, second } = await race('older', 2, 1);
    held.finish();
    expect(await first).toBe('processed');
    expect(await second).toBe('stale');
  });

  it('run an older change when the later one was lost in a crash, and it is stale after', async () => {
    const { held, first, second, context } = await race('crash', 2, 1);
    const lost = expect(first).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    await terminate(observer, context.tx);
    await lost;
    expect(await second).toBe('processed');
    held.finish();
    const reference = `crash-${level}`;
    expect(await one.process(change(reference, 2), nothing)).toBe('processed');
    expect(await two.process(change(reference, 1), nothing)).toBe('duplicate');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a change whose work was lost in a crash', () => {
  it('is stale when a later one was processed between', async () => {
    const inbox = postgresInbox<PoolClient>(openPool());
    const lost = inbox.process(change('between', 1), async ({ tx }) => terminate(observer, tx));
    await expect(lost).rejects.toThrow();
    expect(await inbox.process(change('between', 2), nothing)).toBe('processed');
    expect(await inbox.process(change('between', 1), nothing)).toBe('stale');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a payment that is locked for too long', () => {
  it('is busy in another process', async () => {
    const held = heldWork();
    const first = postgresInbox(openPool()).process(change('locked', 1), held.work);
    await held.started;
    // Without the inbox's own limit, this one would wait without end.
    const pool = openPool({ options: '-c lock_timeout=0' });
    const other = postgresInbox(pool, { lockTimeoutMs: 5 });
    expect(await other.process(change('locked', 1), nothing)).toBe('busy');
    expect(await other.process(change('locked', 2), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(await other.process(change('locked', 1), nothing)).toBe('duplicate');
  });

  it('is busy in this process, without a connection', async () => {
    const pool = openPool();
    const inbox = postgresInbox(pool, { lockTimeoutMs: 5 });
    const held = heldWork();
    const first = inbox.process(change('locked-here', 1), held.work);
    await held.started;
    expect(await inbox.process(change('locked-here', 1), nothing)).toBe('busy');
    expect(pool.totalCount).toBe(1);
    held.finish();
    expect(await first).toBe('processed');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('fifty duplicates on a pool of three', () => {
  it('run the work once and leave connections for other payments', async () => {
    const pool = openPool({ max: 3 });
    const inbox = postgresInbox(pool, { lockTimeoutMs: LONG_MS, acquireTimeoutMs: LONG_MS });
    const held = heldWork();
    const outcomes = Array.from({ length: 50 }, () => inbox.process(change('many'), held.work));
    await held.started;
    // With the first still held, this one would never get a connection if the others had them.
    expect(await inbox.process(change('other'), nothing)).toBe('processed');
    expect(pool.waitingCount).toBe(0);
    held.finish();
    expect((await Promise.all(outcomes)).sort()).toEqual([
      ...Array.from({ length: 49 }, () => 'duplicate'),
      'processed',
    ]);
  });
});

describe.skipIf(!process.env['DATABASE_URL'])(
  'many processes, each change delivered to all of them, in any order',
  () => {
    it('have each effect once, and none out of order', async () => {
      await observer.query('CREATE TABLE effects (id serial, reference text, minute int)');
      const inboxes = Array.from({ length: 4 }, () =>
        postgresInbox(openPool({ max: 3 }), { lockTimeoutMs: LONG_MS, acquireTimeoutMs: LONG_MS }),
      );
      const references = ['a', 'b', 'c'].map((name) => `shuffled-${name}`);
      const minutes = [3, 1, 4, 2, 5];
      const deliveries = inboxes.flatMap((inbox, offset) =>
        references.flatMap((reference) =>
          minutes.map((_minute, index) => {
            const minute = minutes[(index + offset) % minutes.length] ?? 0;
            return inbox.process(change(reference, minute), async ({ tx }) => {
              await tx.query('INSERT INTO effects (reference, minute) VALUES ($1, $2)', [
                reference,
                minute,
              ]);
            });
          }),
        ),
      );
      const outcomes = await Promise.all(deliveries);
      const { rows } = await observer.query(
        'SELECT reference, array_agg(minute ORDER BY id) AS minutes FROM effects GROUP BY 1',
      );
      const effects = rows.flatMap((row) => row.minutes);
      expect(effects).toHaveLength(outcomes.filter((outcome) => outcome === 'processed').length);
      expect(rows).toHaveLength(references.length);
      for (const row of rows) {
        expect(row.minutes).toEqual([...new Set<number>(row.minutes)].sort());
        expect(row.minutes.at(-1)).toBe(5);
      }
    });
  },
);
