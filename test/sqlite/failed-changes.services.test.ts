import { describe, expect, test, vi } from 'vitest';
import type { ManagedStore, StatusChange } from '../../src/store/callback-store.js';
import { changeAt } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { waitFor } from '../wait-for.js';
import { drivers } from './open-database.js';
import { LEASE_MS, Scene } from './scene.js';

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

const broken = () => Promise.reject(new Error('broken'));
const failOf = (store: ManagedStore, change: StatusChange) =>
  expect(outcomeOf(store, change, broken)).rejects.toThrow('broken');

/** The keys of the changes that are listed. */
async function list(store: ManagedStore, options: { limit?: number } = {}): Promise<string[]> {
  const listed: string[] = [];
  for await (const item of store.attention({ kinds: ['failed-change'], ...options })) {
    if (item.kind === 'failed-change') listed.push(item.merchantPaymentReference);
  }
  return listed;
}

/** Simulates that all time has passed for which a step waits for the file. */
function endPatience(): void {
  const later = performance.now() + 5_000;
  vi.spyOn(performance, 'now').mockReturnValue(later);
}

describe.each(drivers)('with $name, changes that failed', ({ open }) => {
  const scene = new Scene(open);

  /** A delivery whose work locks the file from another connection, and fails. */
  async function lockedWhenKept() {
    const { store, database } = await scene.open();
    const other = scene.connect();
    const exec = vi.spyOn(database, 'exec');
    const failed = store.process(second, async () => {
      other.exec('BEGIN IMMEDIATE');
      throw new Error('broken');
    });
    await expect
      .poll(() => exec.mock.results.filter(({ type }) => type === 'throw').length)
      .toBeGreaterThan(0);
    return { store, other, failed };
  }

  test('are kept once the file is free again', async () => {
    const { store, other, failed } = await lockedWhenKept();
    other.exec('ROLLBACK');
    expect(await failed).toMatchObject({ error: { message: 'broken' } });
    expect(await list(store)).toEqual(['order-1']);
    expect(await outcomeOf(store, second, async () => {})).toBe('processed');
  });

  test('fail with their own error when the file stays locked for two seconds, long before the lease has expired', async () => {
    const { store, other, failed } = await lockedWhenKept();
    endPatience();
    expect(await failed).toMatchObject({
      error: { message: 'broken' },
      notKept: {
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('was not stored: another connection had the file'),
        cause: expect.objectContaining({ message: 'database is locked' }),
      },
    });
    vi.restoreAllMocks();
    other.exec('ROLLBACK');
    // The claim is released as soon as the file is free.
    await waitFor(async () =>
      expect(await outcomeOf(store, second, async () => {})).toBe('processed'),
    );
    expect(await list(store)).toEqual([]);
  });

  test('are not kept by a process whose claim another one has taken over', async () => {
    const { store } = await scene.open();
    const failing = store.process(first, async () => {
      scene.nowMs += LEASE_MS;
      const other = await scene.store();
      expect(await outcomeOf(other, first, async () => {})).toBe('processed');
      throw new Error('too late');
    });
    const error = { message: 'too late' };
    expect(await failing).toMatchObject({ error, notKept: { code: 'LEASE_LOST' } });
    expect(await list(store)).toEqual([]);
  });

  test('keep a body of two million bytes', async () => {
    const { store } = await scene.open();
    const body = new Uint8Array(2_000_000).fill(0xe9);
    await failOf(store, { ...first, failures: { getRawBody: () => body } });
    for await (const item of store.attention()) {
      expect(item).toMatchObject({ kind: 'failed-change' });
      expect(Buffer.compare(Buffer.from('rawBody' in item ? (item.rawBody ?? '') : ''), body)).toBe(
        0,
      );
    }
  });
});
