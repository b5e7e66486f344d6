import type { PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { change, heldWork, nothing } from './payment-change.js';
import { useSchema } from './server.js';

const { openPool, observer, waitForBlocked } = useSchema('mp_inbox_order');
const lockTimeoutMs = 60_000;

/** As many instances as `pools` says, each with a pool that has a connection for what comes. */
function openInstances(pools: number) {
  return Array.from({ length: pools }, () => {
    const pool = openPool({ max: 3 });
    return { inbox: postgresInbox<PoolClient>(pool, { lockTimeoutMs }), pool };
  });
}

describe.skipIf(!process.env['DATABASE_URL']).each([
  ['with the functions', true],
  ['without them', false],
])('the changes of a payment that arrive in order at four instances, %s', (form, hasFunctions) => {
  const arrivals = [
    // The last two at one instance, too, while a third one waits at another.
    [0, 1, 2, 3],
    [0, 0, 1, 1],
    [3, 2, 1, 0],
    [0, 1, 0, 1],
  ];

  it('all run in that order, none of them stale', async () => {
    if (!hasFunctions) {
      await observer.query('DROP FUNCTION payment_inbox_claim_v1, payment_inbox_record_v1');
    }
    const instances = openInstances(4);
    for (const [index, route] of arrivals.entries()) {
      const reference = `ordered-${form}-${index}`;
      const ran: { minute: number; stale: boolean }[] = [];
      const held = heldWork<PoolClient>();
      const outcomes = route.map(() => undefined as Promise<string> | undefined);
      for (const [minute, instance] of route.entries()) {
        outcomes[minute] = instances[instance]?.inbox.process(
          change(reference, minute),
          async (context) => {
            ran.push({ minute, stale: context.stale });
            if (minute === 0) await held.work(context);
          },
        );
        if (minute === 0) await held.started;
        // It has arrived when Postgres has it among those that wait.
        else await waitForBlocked(minute);
      }
      held.finish();
      expect(await Promise.all(outcomes)).toEqual(route.map(() => 'processed'));
      expect(ran).toEqual(route.map((_instance, minute) => ({ minute, stale: false })));
    }
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('duplicates of a change', () => {
  it('wait where they arrived, with no connection', async () => {
    const [instance] = openInstances(1);
    const held = heldWork<PoolClient>();
    const first = instance?.inbox.process(change('duplicates'), held.work);
    await held.started;
    const second = instance?.inbox.process(change('duplicates'), nothing);
    expect(await instance?.inbox.process(change('other'), nothing)).toBe('processed');
    expect(instance?.pool).toMatchObject({ totalCount: 2, idleCount: 1, waitingCount: 0 });
    held.finish();
    expect(await Promise.all([first, second])).toEqual(['processed', 'duplicate']);
  });
});
