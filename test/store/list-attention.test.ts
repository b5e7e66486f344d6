import { describe, expect, it } from 'vitest';
import type { AttentionOptions } from '../../src/store/attention.js';
import { listAttention } from '../../src/store/list-attention.js';
import { memoryStore } from '../../src/store/memory.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { ListKind, Page } from '../../src/store/payment-row.js';
import { collect } from '../contract/store/stage.js';
import { expectToListWhatLiesAhead } from './clock-set-back.js';
import { MEMORY } from './memory-engine.js';

class ObservedBackend extends MemoryBackend {
  clockMs = 1_000;
  readonly limits: number[] = [];
  readonly ages: Record<string, number> = {};
  constructor() {
    super({ ...MEMORY, now: () => this.clockMs });
  }
  override list(kind: ListKind, page: Page) {
    this.limits.push(page.limit);
    const isWaiting = kind !== 'unresolved';
    this.ages[isWaiting ? 'no-callback' : kind] = page.olderThanMs;
    return super.list(kind, page);
  }
  override listSecond(page: Page) {
    this.ages['second-payment'] = page.olderThanMs;
    return super.listSecond(page);
  }
  override listFailed(page: Page, referenceNumber: string | undefined) {
    this.ages['failed-change'] = page.olderThanMs;
    return super.listFailed(page, referenceNumber);
  }
}

async function unresolvedBackend(count: number): Promise<ObservedBackend> {
  const backend = new ObservedBackend();
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify({ merchantPaymentReference: `order-${index}` });
    const intent = { body, digest: '' };
    const key = `order-${index}`;
    const claim = { key, intent, owner: 'one', allowsRejected: true, leaseMs: 1 };
    await backend.claim(claim);
    await backend.finish(key, 'one', { state: 'unresolved', failure: undefined });
  }
  backend.clockMs += LIFETIME_MS;
  return backend;
}

const LIFETIME_MS = 900_000;
const kinds = ['unresolved'] as const;

it.each([
  { count: 250, limit: undefined, given: 250, limits: [100, 100, 100] },
  { count: 200, limit: undefined, given: 200, limits: [100, 100, 100] },
  { count: 250, limit: 150, given: 150, limits: [100, 50] },
  { count: 250, limit: 100, given: 100, limits: [100] },
  { count: 3, limit: 5, given: 3, limits: [5] },
])('lists $given of $count in pages of $limits', async ({ count, limit, given, limits }) => {
  const backend = await unresolvedBackend(count);
  const listed = await collect(listAttention(backend, LIFETIME_MS, { kinds, limit }));
  expect(listed).toHaveLength(given);
  expect(new Set(listed).size).toBe(given);
  expect(backend.limits).toEqual(limits);
});

it('reads no list after the limit has been reached', async () => {
  const backend = await unresolvedBackend(2);
  await collect(listAttention(backend, LIFETIME_MS, { limit: 2 }));
  expect(Object.keys(backend.ages)).toEqual(['unresolved']);
});

describe('the age of what is listed', () => {
  it.each([
    [undefined, { ...agesOf(0), unresolved: LIFETIME_MS, 'no-callback': 3_600_000 }],
    [7, { ...agesOf(7), unresolved: LIFETIME_MS }],
    [1_000_000, agesOf(1_000_000)],
  ])('is at least %s', async (olderThanMs, ages) => {
    const backend = new ObservedBackend();
    await collect(listAttention(backend, LIFETIME_MS, { olderThanMs }));
    expect(backend.ages).toEqual(ages);
  });
});

function agesOf(ms: number) {
  return { unresolved: ms, 'second-payment': ms, 'failed-change': ms, 'no-callback': ms };
}

it.each<[string, unknown, string]>([
  ['olderThanMs', { olderThanMs: -1 }, 'must be a whole number of milliseconds from 0'],
  ['limit', { limit: 0 }, 'limit must be a whole number of items from 1; received 0'],
  ['kinds', { kinds: 'unresolved' }, 'kinds must be'],
  ['kinds', { kinds: ['paid'] }, 'unresolved'],
  ['referenceNumber', { referenceNumber: 7 }, 'referenceNumber must be'],
  ['referenceNumber', { referenceNumber: '' }, 'must be a string that is not empty'],
  ['kinds', { referenceNumber: 'p', kinds: ['unresolved'] }, "kinds must be left out, or ['failed"],
  ['reference', { reference: 'p' }, 'reference is not a known option'],
])('refuses a wrong %s at once: %o', (option, options, message) => {
  expect(() =>
    listAttention(new ObservedBackend(), LIFETIME_MS, options as AttentionOptions),
  ).toThrow(
    expect.objectContaining({
      option: expect.stringContaining(option),
      message: expect.stringContaining(message),
    }),
  );
});

it('lists and sends what was stored before the clock was set back', async () => {
  let nowMs = 7_200_000;
  await expectToListWhatLiesAhead(
    (client) => memoryStore({ client, now: () => nowMs }),
    () => {
      nowMs = 3_600_000;
    },
  );
});
