import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StatusChange, StoreContext } from '../../src/store/callback-store.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { seconds } from '../contract/store/changes.js';
import { explore, type Turns } from './explore.js';
import { MEMORY, openStore } from './memory-engine.js';
import { changeOf } from './orders.js';
import { unusedClient } from './unused-client.js';

const CHANGES = {
  'first, authorized': changeOf({ key: 'a', referenceNumber: 'first' }),
  'first, paid': changeOf({
    key: 'b',
    referenceNumber: 'first',
    status: 'paid',
    updatedAt: seconds(1),
  }),
  'second, paid': changeOf({ key: 'c', referenceNumber: 'second', status: 'paid' }),
} satisfies Record<string, StatusChange>;

type Name = keyof typeof CHANGES;

/**
 * One run: each change is delivered by a process of its own until it is acknowledged.
 *
 * @param fails the change of which the work fails at its first delivery
 */
async function run(fails: Name | undefined, turns: Turns): Promise<void> {
  const shared = new MemoryBackend(MEMORY);
  const completed: { name: Name; context: StoreContext<undefined> }[] = [];
  const failed: Name[] = [];
  let working = 0;

  const deliver = async (name: Name) => {
    const store = openStore(shared, { client: unusedClient });
    const change = CHANGES[name];
    for (let isBusy = false; ; ) {
      // A busy order is delivered again later. The test plays only what can make progress.
      await turns.stepWhen(name, () => !isBusy || working === 0);
      isBusy = false;
      const outcome = await store
        .process(change, async (context) => {
          working += 1;
          expect(working, 'one change of an order at a time').toBe(1);
          await turns.step(name);
          working -= 1;
          if (fails === name && failed.length === 0) {
            failed.push(name);
            throw new Error('as this run wants it');
          }
          completed.push({ name, context });
        })
        .then((result) => result.outcome);
      isBusy = outcome === 'busy';
      if (!isBusy && outcome !== 'failed') return;
    }
  };
  await turns.play(Object.keys(CHANGES).map((name) => deliver(name as Name)));

  const names = completed.map(({ name }) => name);
  expect(new Set(names).size, 'the work of a change completes once').toBe(names.length);
  expect(names.length, 'every change runs').toBe(3);
  const paidBy = completed.filter(({ name }) => name !== 'first, authorized');
  const current = paidBy.filter(({ context }) => context.current);
  const second = paidBy.filter(({ context }) => context.secondPayment);
  expect(current.length, 'one payment pays the order').toBe(1);
  expect(second.length, 'the other one is a second payment').toBe(1);
  expect(current[0]?.name).not.toBe(second[0]?.name);
  const listed = [];
  for await (const item of openStore(shared, { client: unusedClient }).attention()) {
    listed.push(item.kind === 'second-payment' ? item.referenceNumber : item.kind);
  }
  // A person sees the payment of which the work was told.
  expect(listed).toStrictEqual([second[0]?.name.split(',')[0]]);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('three changes of two payments of an order, in every order of their steps', () => {
  const failing = [undefined, ...(Object.keys(CHANGES) as Name[])];
  it.each(failing)('failing at first: %s', async (fails) => {
    const runs = await explore((turns) => run(fails, turns));
    expect(runs).toBeGreaterThan(10);
  });
});
