import { describe, expect, it, vi } from 'vitest';
import { RetryLaterError, StoreError } from '../../src/errors.js';
import { Attempt, type KeepFailure, NOTHING_SEEN } from '../../src/store/attempt.js';
import type { FailurePolicy } from '../../src/store/failed-changes.js';
import { sampleEvent } from './sample-event.js';

const PARKED = { own: 'parked', behindParked: false } as const;
const BEHIND_PARKED = { own: undefined, behindParked: true } as const;

function createAttempt(failures?: FailurePolicy, keep?: KeepFailure) {
  const kept = vi.fn<KeepFailure>(keep ?? (async () => ({ attempts: 1, parked: true })));
  return { attempt: new Attempt(sampleEvent({ failures }), kept), kept };
}

/** What begin() refuses with. */
function refusalOf(attempt: Attempt, seen: Parameters<Attempt['begin']>[0]): StoreError {
  try {
    attempt.begin(seen);
  } catch (error) {
    if (error instanceof StoreError) return error;
  }
  throw new Error('the attempt was not refused');
}

describe('the stored failure of an attempt', () => {
  it('is nothing when it failed before its claim was granted', async () => {
    const { attempt, kept } = createAttempt();
    await attempt.failed(new Error('no connection'));
    expect(kept).not.toHaveBeenCalled();
  });

  it('is nothing when the work asks to retry later', async () => {
    const { attempt, kept } = createAttempt();
    attempt.begin(NOTHING_SEEN);
    await attempt.failed(new RetryLaterError());
    expect(kept).not.toHaveBeenCalled();
  });

  it('is the error of the work, with what parks the change, and without a body that is not known', async () => {
    const { attempt, kept } = createAttempt({ parkAfter: 3 });
    attempt.begin(NOTHING_SEEN);
    await attempt.failed(new TypeError('broken'));
    expect(kept).toHaveBeenCalledExactlyOnceWith({
      ran: true,
      parkFrom: 3,
      error: { name: 'TypeError', message: 'broken' },
      getRawBody: expect.any(Function),
    });
    expect(kept.mock.calls[0]?.[0].getRawBody()).toBeUndefined();
  });

  it('is described by the policy, as that was when the attempt was made', async () => {
    const failures: FailurePolicy = {
      describeError: () => ({ name: 'Described', message: 'by the policy' }),
    };
    const event = sampleEvent({ failures });
    const kept = vi.fn<KeepFailure>(async () => undefined);
    const attempt = new Attempt(event, kept);
    event.failures = undefined;
    attempt.begin(NOTHING_SEEN);
    await attempt.failed(new Error('broken'));
    expect(kept.mock.calls[0]?.[0].error.name).toBe('Described');
  });

  it('is the refusal of a change that is parked behind another, and rejects when that fails', async () => {
    const { attempt, kept } = createAttempt({ parkAfter: 3, blockParked: true });
    const refusal = refusalOf(attempt, BEHIND_PARKED);
    await attempt.failed(refusal);
    expect(kept.mock.calls).toMatchObject([
      [{ ran: false, parkFrom: 0, error: { code: 'CHANGE_BLOCKED' } }],
    ]);

    const full = new Error('the disk is full');
    const unkept = createAttempt({ blockParked: true }, () => Promise.reject(full));
    const answer = unkept.attempt.failed(refusalOf(unkept.attempt, BEHIND_PARKED));
    await expect(answer).rejects.toBe(full);
  });

  it('is nothing more of a change that is parked already', async () => {
    const { attempt, kept } = createAttempt();
    await attempt.failed(refusalOf(attempt, PARKED));
    expect(kept).not.toHaveBeenCalled();

    const both = createAttempt({ blockParked: true, runParked: true });
    const refusal = refusalOf(both.attempt, { own: 'parked', behindParked: true });
    expect(refusal.code).toBe('CHANGE_BLOCKED');
    await both.attempt.failed(refusal);
    expect(both.kept).not.toHaveBeenCalled();
  });

  it('is nothing when a refused change failed with something else: no roll-back is a failure of it', async () => {
    const { attempt, kept } = createAttempt({ blockParked: true });
    refusalOf(attempt, BEHIND_PARKED);
    await attempt.failed(new Error('the connection ended'));
    expect(kept).not.toHaveBeenCalled();
  });

  it('is stored once, by the first call', async () => {
    const { attempt, kept } = createAttempt();
    const error = new Error('broken');
    const run = attempt.run(async () => {
      attempt.begin(NOTHING_SEEN);
      await attempt.failed(error);
      throw error;
    });
    await expect(run).rejects.toBe(error);
    expect(kept).toHaveBeenCalledOnce();
  });

  it('is reported as not stored only if no attempt to store it succeeded', async () => {
    const full = new Error('the disk is full');
    for (const [failures, reports] of [
      [1, []],
      [2, [[full]]],
    ] as const) {
      let left: number = failures;
      const onNotKept = vi.fn();
      const { attempt } = createAttempt({ onNotKept }, async () => {
        left -= 1;
        if (left >= 0) throw full;
        return { attempts: 1, parked: false };
      });
      const error = new Error('broken');
      const run = attempt.run(async () => {
        attempt.begin(NOTHING_SEEN);
        await attempt.failed(error);
        throw error;
      });
      await expect(run).rejects.toBe(error);
      expect(onNotKept.mock.calls).toEqual(reports);
    }
  });

  it('never hides the error of the work, even if storing it fails', async () => {
    const error = new Error('broken');
    const fail = () => {
      throw new Error('no log');
    };
    for (const { attempt } of [
      createAttempt({ onNotKept: fail }, () => Promise.reject(new Error('the disk is full'))),
      createAttempt({ onParked: fail }),
    ]) {
      const run = attempt.run(async () => {
        attempt.begin(NOTHING_SEEN);
        throw error;
      });
      await expect(run).rejects.toBe(error);
    }
  });
});

describe('work that later changes may have to wait for', () => {
  const error = new Error('broken');
  const broken = () => Promise.reject(error);
  const POLICY: FailurePolicy = { parkAfter: 1, blockParked: true };

  /** An attempt in a transaction that records what was done in it. */
  function createTransaction(policy: FailurePolicy, keepWithin?: KeepFailure) {
    const steps: string[] = [];
    const keep = vi.fn<KeepFailure>(keepWithin ?? (async () => ({ attempts: 4, parked: true })));
    const transaction = {
      mark: async () => steps.push('mark'),
      keep: (failure: Parameters<KeepFailure>[0]) => {
        steps.push('keep');
        return keep(failure);
      },
    };
    const { attempt, kept } = createAttempt(policy);
    const run = (work: () => Promise<void>, commit = async (_isDone: boolean) => {}) =>
      attempt.run(async () => {
        attempt.begin(NOTHING_SEEN);
        const isDone = await attempt.work(async () => {
          steps.push('work');
          await work();
        }, transaction);
        await commit(isDone);
        return isDone;
      });
    return { run, steps, within: keep, apart: kept };
  }

  it('is done behind a mark, and keeps nothing when it completes', async () => {
    const { run, steps, apart } = createTransaction(POLICY);
    expect(await run(async () => {})).toBe(true);
    expect(steps).toEqual(['mark', 'work']);
    expect(apart).not.toHaveBeenCalled();
  });

  it('keeps its failure in the transaction, once, and rejects when that is committed', async () => {
    const reported: number[] = [];
    const onParked = (attempts: number) => reported.push(attempts);
    const { run, steps, within, apart } = createTransaction({ ...POLICY, onParked });
    const committed = vi.fn(async (_isDone: boolean) => {
      expect(reported).toEqual([]);
    });
    await expect(run(broken, committed)).rejects.toBe(error);
    expect(steps).toEqual(['mark', 'work', 'keep']);
    expect(within.mock.calls).toMatchObject([
      [{ ran: true, parkFrom: 1, error: { name: 'Error', message: 'broken' } }],
    ]);
    expect(committed).toHaveBeenCalledExactlyOnceWith(false);
    expect(apart).not.toHaveBeenCalled();
    expect(reported).toEqual([4]);
  });

  it.each([
    ['is not to park', { blockParked: true }],
    ['is not to block', { parkAfter: 1 }],
    ['has no policy', {}],
  ])('is not marked where it %s, and its failure is kept apart', async (_, policy) => {
    const { run, steps, apart } = createTransaction(policy);
    await expect(run(broken)).rejects.toBe(error);
    expect(steps).toEqual(['work']);
    expect(apart).toHaveBeenCalledOnce();
    expect(await createTransaction(policy).run(async () => {})).toBe(true);
  });

  it('that asks to retry later keeps nothing', async () => {
    const { run, steps, apart } = createTransaction(POLICY);
    const later = new RetryLaterError();
    await expect(run(() => Promise.reject(later))).rejects.toBe(later);
    expect(steps).toEqual(['mark', 'work']);
    expect(apart).not.toHaveBeenCalled();
  });

  it("has its failure stored separately when the transaction can't store it", async () => {
    const lost = () => Promise.reject(new Error('the connection is lost'));
    const { run, apart } = createTransaction(POLICY, lost);
    await expect(run(broken)).rejects.toBe(error);
    expect(apart.mock.calls).toMatchObject([[{ error: { message: 'broken' } }]]);
  });

  it("has its failure stored separately when the transaction can't be committed", async () => {
    const { run, apart } = createTransaction(POLICY);
    const commit = () => Promise.reject(new Error('no commit'));
    await expect(run(broken, commit)).rejects.toBe(error);
    expect(apart.mock.calls).toMatchObject([[{ error: { message: 'broken' } }]]);
  });

  it('has its failure stored separately before the rollback if an ORM owns the transaction', async () => {
    for (const [policy, expected] of [
      [POLICY, ['kept', 'rolled back']],
      [{ parkAfter: 1 }, ['rolled back', 'kept']],
    ] as const) {
      const steps: string[] = [];
      const { attempt } = createAttempt(policy, async () => {
        steps.push('kept');
        return { attempts: 1, parked: true };
      });
      const running = attempt.run(async () => {
        attempt.begin(NOTHING_SEEN);
        await attempt.work(broken, undefined).finally(() => steps.push('rolled back'));
      });
      await expect(running).rejects.toBe(error);
      expect(steps).toEqual(expected);
    }
  });

  it('is kept after all when it could not be kept before the roll-back', async () => {
    let tries = 0;
    const { attempt } = createAttempt(POLICY, async () => {
      tries += 1;
      if (tries === 1) throw new Error('the pool has no other connection');
      return { attempts: 1, parked: true };
    });
    const running = attempt.run(async () => {
      attempt.begin(NOTHING_SEEN);
      await attempt.work(broken, undefined);
    });
    await expect(running).rejects.toBe(error);
    expect(tries).toBe(2);
  });

  it('has its own error as the failure whatever fails in describing or reporting it', async () => {
    for (const name of ['describeError', 'onParked'] as const) {
      const failing = () => {
        throw new Error('no log');
      };
      await expect(createTransaction({ ...POLICY, [name]: failing }).run(broken)).rejects.toBe(
        error,
      );
    }
  });
});

describe('a change that has just been parked', () => {
  it.each([
    ['reported', { attempts: 2, parked: true }, NOTHING_SEEN, [2]],
    ['not when it is not parked', { attempts: 2, parked: false }, NOTHING_SEEN, []],
    ['not when it was processed meanwhile', undefined, NOTHING_SEEN, []],
    ['not when it was parked before', { attempts: 2, parked: true }, PARKED, []],
  ])('is %s', async (_, kept, seen, expected) => {
    const reported: number[] = [];
    const onParked = (attempts: number) => reported.push(attempts);
    const { attempt } = createAttempt({ runParked: true, onParked }, async () => kept);
    attempt.begin(seen);
    await attempt.failed(new Error('broken'));
    expect(reported).toEqual(expected);
  });
});

describe('a refused change', () => {
  it('that is parked says what to do', () => {
    const { code, message } = refusalOf(createAttempt().attempt, PARKED);
    expect(code).toBe('CHANGE_PARKED');
    expect(message).toMatch(/^The change was not run: it is parked .*replay it .*, or discard it$/);
  });

  it('that is blocked names the earlier change', () => {
    const { attempt } = createAttempt({ blockParked: true });
    const { code, message } = refusalOf(attempt, BEHIND_PARKED);
    expect(code).toBe('CHANGE_BLOCKED');
    expect(message).toMatch(
      /^The change was parked without being run: an earlier change of its payment is parked/,
    );
  });

  it('runs after all in a replay, and where blockParked is not set', () => {
    createAttempt({ runParked: true }).attempt.begin(PARKED);
    createAttempt({ blockParked: false }).attempt.begin(BEHIND_PARKED);
    createAttempt().attempt.begin(BEHIND_PARKED);
  });
});
