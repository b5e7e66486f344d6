import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Deadline } from '../../src/client/deadline.js';
import { timers } from '../../src/protocol/timers.js';
import {
  createClient,
  created,
  failureOf,
  holdDeadline,
  httpAnswer,
  order,
  schemaOf,
  startRawServer,
  transports,
} from './raw-server.js';

const countTimers = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const waitLong = httpAnswer(429, { code: 'RATE_LIMITED', message: 'm' }, { 'retry-after': '20' });

it('a deadline is over once the system clock has passed it, though the monotonic one stood still', () => {
  const deadline = new Deadline(60_000, undefined);
  onTestFinished(() => deadline.end());
  expect(deadline.check()).toBeUndefined();
  vi.spyOn(timers, 'systemNow').mockReturnValue(Date.now() + 60_000);
  expect(deadline.check()).toBe('timeout');
});

describe.each(transports)('the deadline of a call, with $name,', ({ options }) => {
  it('sends nothing when it has passed while the event loop stood still, though its timer has not run', async () => {
    const server = await startRawServer({ answer: () => created });
    let stallMs = 0;
    const apiSecret = async () => {
      const endsAtMs = performance.now() + stallMs;
      while (performance.now() < endsAtMs);
      return 'secret';
    };
    const client = createClient(server.url, { ...options, apiSecret });
    // Loads what is loaded once.
    await client.payments.create(order);
    stallMs = 20;
    const error = await failureOf(client.payments.create(order, { timeoutMs: 20 }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent' });
    expect(server.requests).toHaveLength(1);
  });

  it('ends a body that comes a byte at a time', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const server = await startRawServer({
      answer: ({ socket }) => {
        socket.write('HTTP/1.1 201 Created\r\ncontent-length: 1000000\r\n\r\n');
        const drip = () => {
          if (!socket.destroyed) socket.write(' ', () => setImmediate(drip));
        };
        drip();
        return undefined;
      },
    });
    const client = createClient(server.url, { ...options, timeoutMs });
    const failure = failureOf(client.payments.create(order));
    await server.received(1);
    setImmediate(expire);
    expect((await failure).code).toBe('TIMEOUT');
  });

  it('ends it by a real timer, and is that of the call when the call has one', async () => {
    const server = await startRawServer({});
    const client = createClient(server.url, options);
    const error = await failureOf(client.payments.create(order, { timeoutMs: 101 }));
    expect(error.code).toBe('TIMEOUT');
    expect(error.message).toContain('did not end within 101 ms');
  });

  it('stands over all attempts together', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const server = await startRawServer({
      answer: (_request, index) => (index === 0 ? httpAnswer(500) : undefined),
    });
    const client = createClient(server.url, {
      ...options,
      timeoutMs,
      idempotency: 'merchantPaymentReference',
    });
    const failure = failureOf(client.payments.create(order));
    await server.received(2);
    // Were there a timer for each attempt, this would be the second one: one alone was set.
    expire();
    expect(await failure).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
    expect(server.requests).toHaveLength(2);
  });

  it('that passes in the wait between two attempts ends the call with what is known', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const server = await startRawServer({ answer: () => waitLong });
    const attempts: object[] = [];
    const logger = {
      ...silent,
      warn: (fields: object) => {
        attempts.push(fields);
        setImmediate(expire);
      },
      error: (fields: object) => void attempts.push(fields),
    };
    const client = createClient(server.url, { ...options, timeoutMs, logger });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'rejected', safeToRetry: true });
    expect(server.requests).toHaveLength(1);
    // Nor is a request told that was not begun.
    expect(attempts).toMatchObject([{ attempt: 1 }]);
  });

  it.each([
    ['during the wait between two attempts', setImmediate],
    ['right before the wait between two attempts', (abort: () => void) => abort()],
  ])('gives way to a signal that is aborted %s', async (_when, schedule) => {
    const controller = new AbortController();
    const server = await startRawServer({ answer: () => waitLong });
    const logger = { ...silent, warn: () => void schedule(() => controller.abort()) };
    const client = createClient(server.url, { ...options, logger });
    const { signal } = controller;
    const before = countTimers();
    const error = await failureOf(client.payments.create(order, { signal }));
    expect(countTimers()).toBeLessThanOrEqual(before);
    expect(error).toMatchObject({ code: 'ABORTED', requestOutcome: 'rejected' });
    expect(error.message).toContain('The service did not accept the request.');
    expect(server.requests).toHaveLength(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('leaves no timer and no listener when the call has ended, however it ended', async () => {
    const server = await startRawServer({
      answer: (_request, index) => [created, httpAnswer(400), created][index],
    });
    const client = createClient(server.url, { ...options, logger: silent });
    const controller = new AbortController();
    const { signal } = controller;
    const before = countTimers();
    await client.payments.create(order, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await failureOf(client.payments.create(order, { signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    const responseSchema = schemaOf(() => ({ issues: [{ message: 'no' }] }));
    await failureOf(client.payments.create(order, { signal, responseSchema }));
    const last = failureOf(client.payments.create(order, { signal }));
    await server.received(4);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort();
    await last;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(countTimers()).toBeLessThanOrEqual(before);
  });

  it('shares a signal with any number of calls, without a warning of a leak', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => void warnings.push(warning);
    process.on('warning', keep);
    const server = await startRawServer({});
    const client = createClient(server.url, options);
    const controller = new AbortController();
    const { signal } = controller;
    const failures = Array.from({ length: 12 }, () =>
      failureOf(client.payments.create(order, { signal })),
    );
    await server.received(12);
    controller.abort();
    const errors = await Promise.all(failures);
    process.off('warning', keep);
    expect(errors.map(({ code }) => code)).toEqual(Array(12).fill('ABORTED'));
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('still ends the other calls of a signal when one of them has ended', async () => {
    const server = await startRawServer({
      answer: (_request, index) => (index === 0 ? created : undefined),
    });
    const client = createClient(server.url, options);
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [1, 2].map(() => client.payments.create(order, { signal }));
    await server.received(2);
    await Promise.race(calls);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort();
    const ends = (await Promise.allSettled(calls)).map(({ status }) => status);
    expect(ends.sort()).toEqual(['fulfilled', 'rejected']);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
