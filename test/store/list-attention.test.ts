import { expect, it } from 'vitest';
import type { Page } from '../../src/store/backend.js';
import { listSecondPayments, listUnresolved } from '../../src/store/lists.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { memoryOutbox } from '../../src/store/memory-store.js';
import { collect } from '../contract/store/stage.js';
import { expectToListWhatLiesAhead } from './clock-set-back.js';

class ObservedBackend extends MemoryBackend {
  readonly limits: number[] = [];
  constructor() {
    super({ now: () => 1_000, maxEntries: 1_000 });
  }
  override listUnresolved(page: Page) {
    this.limits.push(page.limit);
    return super.listUnresolved(page);
  }
}

async function unresolvedStore(count: number): Promise<ObservedBackend> {
  const backend = new ObservedBackend();
  for (let index = 0; index < count; index += 1) {
    const intent = { body: '{}', digest: '' };
    const key = `order-${index}`;
    const claim = { key, intent, owner: 'one', allowsRejected: true, leaseMs: 1 };
    await backend.claim(claim);
    await backend.finish(key, 'one', { state: 'unresolved', failure: undefined });
  }
  return backend;
}

it.each([
  { count: 250, limit: undefined, given: 250, limits: [100, 100, 100] },
  { count: 200, limit: undefined, given: 200, limits: [100, 100, 100] },
  { count: 250, limit: 150, given: 150, limits: [100, 50] },
  { count: 250, limit: 100, given: 100, limits: [100] },
  { count: 3, limit: 5, given: 3, limits: [5] },
])('lists $given of $count in pages of $limits', async ({ count, limit, given, limits }) => {
  const backend = await unresolvedStore(count);
  const listed = await collect(listUnresolved(backend, { limit }));
  expect(listed).toHaveLength(given);
  expect(new Set(listed).size).toBe(given);
  expect(backend.limits).toEqual(limits);
});

it('lists payments that no call has sent', async () => {
  const [listed] = await collect(listUnresolved(await unresolvedStore(1)));
  expect(listed).toMatchObject({ state: 'unresolved', replayed: true });
});

it('refuses a wrong option at once', () => {
  const backend = new ObservedBackend();
  expect(() => listUnresolved(backend, { olderThanMs: -1 })).toThrow(
    'olderThanMs must be a whole number of milliseconds from 0',
  );
  for (const list of [listUnresolved, listSecondPayments]) {
    expect(() => list(backend, { limit: 0 })).toThrow(
      'limit must be a whole number of payments from 1',
    );
  }
});

it('lists and sends payments that were stored before the clock was set back', async () => {
  let nowMs = 7_200_000;
  await expectToListWhatLiesAhead(
    (client) => memoryOutbox({ client, now: () => nowMs }),
    () => {
      nowMs = 3_600_000;
    },
  );
});
