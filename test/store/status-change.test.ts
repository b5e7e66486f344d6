import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { postgresInbox } from '../../src/postgres/inbox-postgres-inbox.js';
import { redisInbox } from '../../src/redis/redis-inbox.js';
import { sqliteInbox } from '../../src/sqlite/inbox-sqlite-inbox.js';
import { type CallbackInbox, toEpochMicroseconds } from '../../src/store/inbox.js';
import { memoryInbox } from '../../src/store/memory-inbox.js';
import { sampleEvent } from './sample-event.js';

const at = (iso: string, microseconds?: number) =>
  toEpochMicroseconds(sampleEvent({ occurredAt: new Date(iso), microseconds }));

describe('the time of an event in epoch microseconds', () => {
  it('is that of occurredAt, and what microseconds adds', () => {
    expect(at('1970-01-01T00:00:00.001Z')).toBe(1000);
    expect(at('1970-01-01T00:00:00.001Z', 0)).toBe(1000);
    expect(at('1970-01-01T00:00:00.001Z', 999)).toBe(1999);
    expect(at('1969-12-31T23:59:59.999Z', 1)).toBe(-999);
    expect(at('2026-01-31T12:00:00.123Z', 456)).toBe(1_769_860_800_123_456);
  });

  it.each([-1, 1000, 0.5, Number.NaN, '7'])('refuses %s microseconds', (microseconds) => {
    expect(() => at('2026-01-31T12:00:00Z', microseconds as number)).toThrow(
      expect.objectContaining({
        option: 'microseconds',
        message: expect.stringMatching(
          /^microseconds must be a whole number of microseconds from 0 to 999; received .+$/,
        ),
      }),
    );
  });

  it('refuses an invalid date, with which nothing would ever be stale', async () => {
    const event = sampleEvent({ occurredAt: new Date(Number.NaN) });
    await expect(memoryInbox().process(event, async () => {})).rejects.toThrow(InvalidOptionError);
    expect(() => toEpochMicroseconds(event)).toThrow(
      expect.objectContaining({
        option: 'occurredAt',
        message: expect.stringContaining('occurredAt must be a valid Date'),
      }),
    );
  });
});

describe('an event without a name', () => {
  const unasked = () => expect.unreachable('The store was asked');
  it.each<[string, CallbackInbox<unknown>]>([
    ['memory', memoryInbox()],
    ['Redis', redisInbox({ evalsha: unasked, eval: unasked })],
    ['SQLite', sqliteInbox({ exec: unasked, prepare: unasked })],
    ['Postgres', postgresInbox({ connect: unasked })],
    ['MySQL', mysqlInbox({ getConnection: unasked } as never)],
  ])('is refused by the inbox in %s', async (_where, inbox) => {
    for (const field of ['key', 'paymentReference'] as const) {
      for (const name of [undefined, null, 7]) {
        const event = sampleEvent({ [field]: name });
        await expect(inbox.process(event, async () => {})).rejects.toMatchObject({
          code: 'INVALID_OPTION',
          option: field,
        });
      }
    }
  });
});
