import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { change, heldWork, nothing } from './payment-change.js';
import { useSchema } from './server.js';

const { openPool, observer } = useSchema('mp_inbox_setup');

const inADay = () => new Date(Date.now() + 86_400_000);

describe.skipIf(!process.env['DATABASE_URL'])('setup', () => {
  it('makes the tables when eight processes call it at once', async () => {
    const pools = Array.from({ length: 8 }, () => openPool({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    for (const round of [1, 2, 3]) {
      const tables = { paymentsTable: `payments_${round}`, eventsTable: `events_${round}` };
      await Promise.all(pools.map((pool) => postgresInbox(pool, tables).setup()));
      const { rows } = await observer.query(
        `SELECT tablename, indexname FROM pg_indexes WHERE tablename = ANY ($1) ORDER BY 1, 2`,
        [Object.values(tables)],
      );
      expect(rows.map(({ indexname }) => indexname)).toEqual([
        `events_${round}_pkey`,
        `events_${round}_processed_at`,
        `payments_${round}_changed_at`,
        `payments_${round}_pkey`,
      ]);
    }
  });

  it('makes them in the schema that the names say', async () => {
    const tables = {
      paymentsTable: 'mp_inbox_setup.Payments',
      eventsTable: 'mp_inbox_setup.Events',
    };
    const inbox = postgresInbox(openPool({ options: '-c search_path=public' }), tables);
    await inbox.setup();
    expect(await inbox.process(change('schema'), nothing)).toBe('processed');
    const { rows } = await observer.query('SELECT * FROM mp_inbox_setup."Events"');
    expect(rows).toMatchObject([{ payment_reference: 'schema', key: 'schema-0' }]);
  });
});

describe.skipIf(!process.env['DATABASE_URL']).each(['read committed', 'serializable'])(
  'prune on a database whose default is %s',
  (level) => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
    const inbox = postgresInbox(openPool({ options }));

    it('leaves a payment whose change is being processed, and waits for nothing', async () => {
      await inbox.process(change('in-progress', 1), nothing);
      const held = heldWork();
      const running = inbox.process(change('in-progress', 2), held.work);
      await held.started;
      expect(await inbox.prune(inADay())).toBe(1);
      held.finish();
      expect(await running).toBe('processed');
      expect(await inbox.process(change('in-progress', 1), nothing)).toBe('stale');
      expect(await inbox.prune(inADay())).toBe(1);
    });

    it('may be called by several processes at once: each event is counted once', async () => {
      await observer.query(
        `INSERT INTO payment_inbox_events (payment_reference, key, occurred_at_us)
       SELECT 'many', n::text, 0 FROM generate_series(1, 3000) n`,
      );
      const counts = await Promise.all([1, 2, 3].map(() => inbox.prune(inADay())));
      const left = await inbox.prune(inADay());
      expect(counts.reduce((sum, count) => sum + count, left)).toBe(3000);
    });
  },
);
