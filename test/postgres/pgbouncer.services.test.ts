import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../services/start-pgbouncer.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, heldWork, nothing } from './change.js';
import { useSchema } from './server.js';

const schema = 'mp_pgbouncer';
const { observer, openPool } = useSchema(schema);
const connectionString = process.env['DATABASE_URL'] ?? '';
const skipped = !connectionString || !hasPgbouncer;

describe.skipIf(skipped)('postgresStore through pgbouncer in transaction mode', () => {
  // A session of another client may set another search_path.
  const prefix = `${schema}.payment_store_`;
  let bouncer: Pgbouncer;
  let pool: pg.Pool;
  beforeAll(async () => {
    bouncer = await startPgbouncer(connectionString);
    pool = new pg.Pool({ connectionString: bouncer.url, max: 6 });
  });
  afterAll(async () => {
    await pool.end();
    await bouncer.stop();
  });

  it('is exactly once', async () => {
    const store = postgresStore(pool, { prefix });
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        outcomeOf(store, change(`order-${index % 20}`), async ({ tx }) => {
          await tx.query(`INSERT INTO ${schema}.orders VALUES ($1, $2)`, ['bouncer', index % 20]);
        }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(20);
    const { rows } = await observer.query('SELECT status FROM orders WHERE reference = $1', [
      'bouncer',
    ]);
    expect(rows).toHaveLength(20);
  });

  it('waits for another instance, and finds no setting of the claim on its connections', async () => {
    const held = heldWork();
    const first = outcomeOf(postgresStore(openPool()), change('held'), held.work);
    await held.started;
    expect(
      await outcomeOf(postgresStore(pool, { prefix, lockTimeoutMs: 5 }), change('held'), nothing),
    ).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    const { rows } = await pool.query('SHOW idle_in_transaction_session_timeout');
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
  });
});
