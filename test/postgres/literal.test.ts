import { afterEach, describe, expect, it, vi } from 'vitest';
import { EventRecord } from '../../src/postgres/inbox-event-record.js';
import { quoteTables } from '../../src/postgres/inbox-options.js';
import { literal } from '../../src/postgres/literal.js';

const EVENT = { reference: 'PAY-1', key: 'k', occurredAtUs: '7', processStale: false };
const TIMEOUTS = { lockTimeoutMs: 1_000, idleTimeoutMs: 2_000, commandTimeoutMs: 500 };
const HELD = ['12', 'none', '"s"', ''];

/** A claim whose answers are these, and what it sent. */
function claimWith(...answers: unknown[]) {
  return claimWithin(TIMEOUTS, ...answers);
}

function claimWithin(timeouts: typeof TIMEOUTS, ...answers: unknown[]) {
  const record = new EventRecord(quoteTables('payment_inbox_'), timeouts);
  const sent: { statements: string; timeoutMs: number }[] = [];
  const transaction = {
    async begin(statements: readonly string[], timeoutMs: number) {
      sent.push({ statements: statements.join('; '), timeoutMs });
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return [{ answer: typeof answer === 'string' ? answer : JSON.stringify(answer) }];
    },
  };
  const claim = (event = EVENT) => record.claim(transaction, event, timeouts.lockTimeoutMs);
  return { record, claim, sent };
}

const failure = (code: string) => Object.assign(new Error('refused'), { code });

describe('a claim', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each(['55P03', '40P01'])('that Postgres ends with %s, for a lock, is busy', async (code) => {
    expect(await claimWith(failure(code)).claim()).toEqual({ found: 'busy' });
  });

  it('whose statement is cancelled is busy only once the time for the lock was over', async () => {
    const cause = failure('57014');
    const cancelledAfter = (waitedMs: number) => {
      vi.spyOn(performance, 'now')
        .mockReturnValueOnce(7)
        .mockReturnValueOnce(7 + waitedMs);
      return claimWith(cause).claim();
    };
    expect(await cancelledAfter(1_000)).toEqual({ found: 'busy' });
    await expect(cancelledAfter(900.4)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/after 900 ms.* 1000 ms .*statement_timeout/),
      cause,
    });
  });

  it('that Postgres ends with another state is a failure', async () => {
    await expect(claimWith(failure('54000')).claim()).rejects.toMatchObject({ code: '54000' });
  });

  it('waits for Postgres as long as for the lock, and then for its answer', async () => {
    const { claim, sent } = claimWith('duplicate');
    expect(await claim()).toEqual({ found: 'duplicate' });
    expect(sent).toMatchObject([{ timeoutMs: 1_500 }]);
  });

  it('waits no longer than a timer can', async () => {
    const longest = { ...TIMEOUTS, lockTimeoutMs: 2_147_483_647, commandTimeoutMs: 2_147_483_647 };
    const { claim, sent } = claimWithin(longest, 'duplicate');
    await claim();
    expect(sent).toMatchObject([{ timeoutMs: 2_147_483_647 }]);
  });

  it('of an older change is stale, or runs and says so', async () => {
    const { claim } = claimWith(['stale', ...HELD], ['stale', ...HELD], ['claimed', ...HELD]);
    expect(await claim()).toEqual({ found: 'stale' });
    expect(await claim({ ...EVENT, processStale: true })).toMatchObject({
      found: 'claimed',
      stale: true,
    });
    expect(await claim()).toMatchObject({ found: 'claimed', stale: false });
  });

  it('records with the role and the functions that it found', async () => {
    const { claim } = claimWith(['claimed', '12', "o'role", '"s"', '']);
    expect(await claim()).toMatchObject({
      record: [
        "SET LOCAL ROLE 'o''role'",
        `SELECT FROM "s"."payment_inbox_record_v1"('PAY-1', 'k', '7', '12', false)`,
      ],
    });
  });

  it.each([
    ['', undefined, false],
    ['failed', 'failed', false],
    ['parked', 'parked', false],
    ['blocked', undefined, true],
    ['blocked failed blocked', 'failed', true],
  ])(
    'that saw "%s" knows what has failed, and forgets it with the record',
    async (words, own, behindParked) => {
      const claimed = await claimWith(['claimed', '12', 'none', '"s"', words]).claim();
      expect(claimed).toMatchObject({
        seen: { own, behindParked },
        record: [expect.anything(), expect.stringContaining(`'12', ${own !== undefined})`)],
      });
    },
  );

  it('without functions forgets a failure by a statement of its own', async () => {
    const { claim } = claimWith(
      failure('42883'),
      ['claimed', ...HELD],
      [...['claimed', '12', 'none', '"s"', 'failed']],
    );
    await claim();
    const forget = `DELETE FROM "payment_store_failed_changes"`;
    const last = async () => ((await claim()) as { record?: readonly string[] }).record?.at(-1);
    expect(await last()).not.toContain(forget);
    expect(await last()).toContain(forget);
  });

  it.each([
    ['another text', 'processed'],
    ['another word', ['done', ...HELD]],
    ['too few parts', ['claimed', '12', 'none', '"s"']],
    ['too many parts', ['claimed', ...HELD, 'more']],
    ['a part that is no text', ['claimed', 12, 'none', 's', '']],
    ['no list', { found: 'claimed' }],
    ['a boolean of a driver', 'f'],
  ])('that is answered with %s fails', async (_, answer) => {
    await expect(claimWith(answer).claim()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining("another version's functions"),
    });
  });

  it.each(['42883', '42501', '3F000'])(
    'does without functions after %s, until setup',
    async (code) => {
      const { record, claim, sent } = claimWith(
        failure(code),
        'duplicate',
        'duplicate',
        'duplicate',
      );
      expect(await claim()).toEqual({ found: 'no functions' });
      await claim();
      await claim();
      record.expectFunctions();
      await claim();
      const byFunction = sent.map(({ statements }) =>
        statements.includes('payment_inbox_claim_v1'),
      );
      expect(byFunction).toEqual([true, false, false, true]);
    },
  );

  it('is refused for a missing table, with what Postgres said', async () => {
    const cause = failure('42P01');
    const missing = { message: expect.stringContaining('call setup()'), cause };
    await expect(claimWith(cause).claim()).rejects.toMatchObject(missing);
  });

  it('without functions fails when it is refused', async () => {
    const { claim } = claimWith(failure('42883'), failure('42501'));
    await claim();
    await expect(claim()).rejects.toMatchObject({ code: '42501' });
  });
});

describe('a literal', () => {
  it.each([
    ['PAY-1', "'PAY-1'"],
    ['', "''"],
    ["o'clock's", "'o''clock''s'"],
    ['a\\b', "E'a\\\\b'"],
    ["\\'", "E'\\\\'''"],
  ])('of %s is %s', (text, sql) => {
    expect(literal(text)).toBe(sql);
  });
});
