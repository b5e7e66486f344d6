import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { change, heldWork, nothing } from '../postgres/payment-change.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer, query, waitForBlocked } = useDatabase('mp_inbox_order');
const lockTimeoutMs = 60_000;

/** Instances, each with a pool that has a connection for what comes. */
function openInstances(count: number) {
  return Array.from({ length: count }, () => {
    const pool = openPool({ connectionLimit: 3 });
    return { inbox: mysqlInbox<PoolConnection>(pool, { lockTimeoutMs }), pool };
  });
}

describe.skipIf(!process.env['MYSQL_URL']).each([
  ['with the procedures', true],
  ['without them', false],
])('the changes of a payment that arrive in order at four instances, %s', (form, hasProcedures) => {
  const arrivals = [
    // The last two at one instance, too, while a third one waits at another.
    [0, 1, 2, 3],
    [0, 0, 1, 1],
    [3, 2, 1, 0],
    [0, 1, 0, 1],
  ];

  it('all run in that order, none of them stale', async () => {
    if (!hasProcedures) {
      for (const name of ['claim', 'record']) {
        await query(`DROP PROCEDURE payment_inbox_${name}_v1`);
      }
    }
    const instances = openInstances(4);
    for (const [index, route] of arrivals.entries()) {
      const reference = `ordered-${form}-${index}`;
      const ran: { minute: number; stale: boolean }[] = [];
      const held = heldWork<PoolConnection>();
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
        // It has arrived when the server has it among those that wait.
        else await waitForBlocked(minute);
      }
      held.finish();
      expect(await Promise.all(outcomes)).toEqual(route.map(() => 'processed'));
      expect(ran).toEqual(route.map((_instance, minute) => ({ minute, stale: false })));
    }
  });

  // Two messages on two connections within a millisecond may reach the server in either order.
  it('or at once at one that has no connection yet, run one after another, the overtaken as stale', async () => {
    for (const round of [1, 2, 3, 4, 5]) {
      const reference = `at-once-${form}-${round}`;
      const inbox = mysqlInbox<PoolConnection>(openPool({ connectionLimit: 5 }), { lockTimeoutMs });
      const ran: number[] = [];
      const held = heldWork<PoolConnection>();
      const outcomes = [0, 1, 2, 3, 4].map((minute) =>
        inbox.process(change(reference, minute), async (context) => {
          ran.push(minute);
          if (minute === 0) await held.work(context);
        }),
      );
      await waitForBlocked(4);
      held.finish();
      const ended = await Promise.all(outcomes);
      expect(ran).toEqual([0, 1, 2, 3, 4].filter((minute) => ended[minute] === 'processed'));
      expect(ran).toContain(4);
      expect(ended.filter((outcome) => outcome !== 'processed' && outcome !== 'stale')).toEqual([]);
    }
  });

  it.each(['commits', 'fails', 'is lost'])(
    'when the first one %s, the next one runs',
    async (end) => {
      const reference = `first-${end}-${form}`;
      const [one, two, three] = openInstances(3).map(({ inbox }) => inbox);
      const held = heldWork<PoolConnection>();
      const first = one?.process(change(reference, 2), held.work);
      const settled = first?.catch(() => 'failed');
      const { tx } = await held.started;
      const ran: string[] = [];
      const note = (name: string) => async () => void ran.push(name);
      const duplicate = two?.process(change(reference, 2), note('duplicate'));
      await waitForBlocked(1);
      const older = three?.process(change(reference, 1), note('older'));
      await waitForBlocked(2);
      if (end === 'commits') held.finish();
      if (end === 'fails') held.fail('failed');
      if (end === 'is lost') await terminate(observer, tx);
      const isDone = end === 'commits';
      expect(await Promise.all([settled, duplicate, older])).toEqual(
        isDone ? ['processed', 'duplicate', 'stale'] : ['failed', 'processed', 'stale'],
      );
      expect(ran).toEqual(isDone ? [] : ['duplicate']);
      held.finish();
    },
  );
});

describe.skipIf(!process.env['MYSQL_URL'])('fifty duplicates on a pool of three', () => {
  it('run the work once and leave connections for other payments', async () => {
    const pool = openPool({ connectionLimit: 3 });
    const inbox = mysqlInbox(pool, { lockTimeoutMs, acquireTimeoutMs: lockTimeoutMs });
    const held = heldWork();
    const outcomes = Array.from({ length: 50 }, () => inbox.process(change('many'), held.work));
    await held.started;
    // With the first still held, this one would never get a connection if the others had them.
    expect(await inbox.process(change('other'), nothing)).toBe('processed');
    held.finish();
    expect((await Promise.all(outcomes)).sort()).toEqual([
      ...Array.from({ length: 49 }, () => 'duplicate'),
      'processed',
    ]);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])(
  'many processes, each change delivered to all of them, in any order',
  () => {
    it('have each effect once, and none out of order', async () => {
      await query(
        'CREATE TABLE effects (id int AUTO_INCREMENT PRIMARY KEY, reference varchar(99), minute int)',
      );
      const inboxes = Array.from({ length: 4 }, () =>
        mysqlInbox<PoolConnection>(openPool({ connectionLimit: 3 }), {
          lockTimeoutMs,
          acquireTimeoutMs: lockTimeoutMs,
        }),
      );
      const references = ['a', 'b', 'c'].map((name) => `shuffled-${name}`);
      const minutes = [3, 1, 4, 2, 5];
      const deliveries = inboxes.flatMap((inbox, offset) =>
        references.flatMap((reference) =>
          minutes.map((_minute, index) => {
            const minute = minutes[(index + offset) % minutes.length] ?? 0;
            return inbox.process(change(reference, minute), async ({ tx }) => {
              await tx.query('INSERT INTO effects (reference, minute) VALUES (?, ?)', [
                reference,
                minute,
              ]);
            });
          }),
        ),
      );
      const outcomes = await Promise.all(deliveries);
      const effects = await query<{ reference: string; minute: number }>(
        'SELECT reference, minute FROM effects ORDER BY id',
      );
      expect(effects).toHaveLength(outcomes.filter((outcome) => outcome === 'processed').length);
      for (const reference of references) {
        const ran = effects.filter((row) => row.reference === reference).map((row) => row.minute);
        expect(ran).toEqual([...new Set(ran)].sort());
        expect(ran.at(-1)).toBe(5);
      }
    });
  },
);
