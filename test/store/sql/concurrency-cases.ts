import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { CallbackStore, StoreContext } from '../../../src/store/callback-store.js';
import { change, heldWork, nothing } from '../../postgres/change.js';
import { outcomeOf } from '../outcome-of.js';

type Store = CallbackStore<unknown>;

/** A server with the store's tables. */
export interface SqlServer {
  /** A store as another process would have it, with a pool of three connections that wait for long. */
  openStore(): Store;
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** The type of a column that counts. */
  readonly serial: string;
  /** Runs a statement in the transaction of the work. */
  send(tx: unknown, sql: string): Promise<unknown>;
  /** Settles when so many connections wait for a lock. */
  waitForBlocked(count: number): Promise<void>;
  /** Ends the connection of the work as an administrator does. */
  terminate(tx: unknown): Promise<void>;
}

/** What holds of several processes. `form` is part of each reference. */
export function describeProcesses(
  form: string,
  { openStore, waitForBlocked, terminate }: SqlServer,
): void {
  const stores = Array.from({ length: 4 }, openStore);
  const [one, two, three] = stores as [Store, Store, Store];

  it.each([[[0, 1, 2, 3]], [[0, 0, 1, 1]], [[3, 2, 1, 0]], [[0, 1, 0, 1]]])(
    'run the changes of an order one after another, each told what it has missed, at %o',
    async (route) => {
      const reference = `ordered-${form}-${route}`;
      const ran: { minute: number; current: boolean }[] = [];
      let running = 0;
      let most = 0;
      const held = heldWork<unknown>();
      const outcomes: (Promise<string> | undefined)[] = [];
      for (const [minute, instance] of route.entries()) {
        const event = change(reference, minute);
        outcomes[minute] = outcomeOf(stores[instance] as Store, event, async (context) => {
          running += 1;
          most = Math.max(most, running);
          ran.push({ minute, current: context.current });
          if (minute === 0) await held.work(context);
          await nextTurn();
          running -= 1;
        });
        if (minute === 0) await held.started;
        else await waitForBlocked(minute);
      }
      held.finish();
      expect(await Promise.all(outcomes)).toEqual(route.map(() => 'processed'));
      expect(most).toBe(1);
      // The server grants its lock in an order of its own.
      const minutes = ran.map(({ minute }) => minute);
      const expected = ran.map(({ minute }, index) => {
        return { minute, current: Math.max(...minutes.slice(0, index), -1) < minute };
      });
      expect(ran).toEqual(expected);
      expect(ran[0]).toMatchObject({ minute: 0 });
      expect([...minutes].sort()).toEqual([0, 1, 2, 3]);
    },
  );

  it.each(['commits', 'fails', 'is lost'])('when the first one %s, run the next', async (end) => {
    const reference = `first-${end}-${form}`;
    const held = heldWork<unknown>();
    const first = outcomeOf(one, change(reference, 2), held.work);
    const settled = first.catch((error: unknown) => error);
    const { tx } = await held.started;
    const ran: string[] = [];
    const told: boolean[] = [];
    const note = (name: string) => async (context: StoreContext<unknown>) => {
      ran.push(name);
      told.push(context.current);
    };
    const duplicate = outcomeOf(two, change(reference, 2), note('duplicate'));
    await waitForBlocked(1);
    const older = outcomeOf(three, change(reference, 1), note('older'));
    await waitForBlocked(2);
    if (end === 'commits') held.finish();
    if (end === 'fails') held.fail('failed');
    if (end === 'is lost') await terminate(tx);
    const isDone = end === 'commits';
    expect(await duplicate).toBe(isDone ? 'duplicate' : 'processed');
    expect(await older).toBe('processed');
    // Either may be the next.
    expect(ran.toSorted()).toEqual(isDone ? ['older'] : ['duplicate', 'older']);
    expect(told[ran.indexOf('older')]).toBe(!isDone && ran[0] === 'older');
    held.finish();
    const lost = expect.objectContaining({ code: 'TRANSACTION_LOST' });
    const outcomes = { commits: 'processed', fails: 'failed', 'is lost': lost };
    expect(await settled).toEqual(outcomes[end as keyof typeof outcomes]);
  });
}

/** What holds of many deliveries at once. */
export function describeMany({ openStore, query, send, serial }: SqlServer): void {
  it('fifty duplicates on a pool of three run the work once and leave connections for other payments', async () => {
    const store = openStore();
    const held = heldWork();
    const outcomes = Array.from({ length: 50 }, () => outcomeOf(store, change('many'), held.work));
    await held.started;
    // With the first still held, this one would never get a connection if the others had them.
    expect(await outcomeOf(store, change('other'), nothing)).toBe('processed');
    held.finish();
    expect((await Promise.all(outcomes)).sort()).toEqual([
      ...Array.from({ length: 49 }, () => 'duplicate'),
      'processed',
    ]);
  });

  it('changes that reach every process, in any order, have each effect once, and the overtaken are not current', async () => {
    await query(
      `CREATE TABLE effects (id ${serial}, reference varchar(99), minute int, is_current int)`,
    );
    const references = ['a', 'b', 'c'].map((name) => `shuffled-${name}`);
    const minutes = [3, 1, 4, 2, 5];
    const stores = Array.from({ length: 4 }, openStore);
    const deliveries = stores.flatMap((store, offset) =>
      references.flatMap((reference) =>
        minutes.map((_minute, index) => {
          const minute = minutes[(index + offset) % minutes.length] ?? 0;
          return outcomeOf(store, change(reference, minute), async ({ tx, current }) => {
            await send(
              tx,
              `INSERT INTO effects (reference, minute, is_current) VALUES ('${reference}', ${minute}, ${Number(current)})`,
            );
          });
        }),
      ),
    );
    const outcomes = await Promise.all(deliveries);
    const effects = await query('SELECT reference, minute, is_current FROM effects ORDER BY id');
    expect(effects).toHaveLength(outcomes.filter((outcome) => outcome === 'processed').length);
    for (const reference of references) {
      const ran = effects.filter((row) => row['reference'] === reference);
      const order = ran.map((row) => Number(row['minute']));
      expect(order.toSorted()).toEqual([1, 2, 3, 4, 5]);
      const isNewest = order.map((minute, index) => Math.max(...order.slice(0, index), 0) < minute);
      expect(ran.map((row) => Number(row['is_current']) === 1)).toEqual(isNewest);
    }
  });
}
