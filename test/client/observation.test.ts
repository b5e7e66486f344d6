import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isObserved, type Logger, observe } from '../../src/client/observation.js';
import {
  apiKey,
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  refusedPort,
  startRawServer,
  withoutJitter,
} from './raw-server.js';

interface Event {
  readonly name: string;
  /** The keys that the context had at the time of the event. */
  readonly keys: readonly string[];
  readonly context: Record<string, unknown>;
}

const eventNames = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

function recordEvents(): Event[] {
  const events: Event[] = [];
  const listeners = Object.fromEntries(
    eventNames.map((name) => [
      name,
      (message: unknown) => {
        const context = message as Record<string, unknown>;
        events.push({ name, keys: Object.keys(context).sort(), context: { ...context } });
      },
    ]),
  ) as Record<(typeof eventNames)[number], (message: unknown) => void>;
  const channel = tracingChannel<object, object>('merchant-payments:request');
  channel.subscribe(listeners);
  onTestFinished(() => void channel.unsubscribe(listeners));
  return events;
}

function recordLines() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  return { lines, logger };
}

const requestId = '0e5f1a52-8f4c-4f0a-9a43-2f1d0c9b7e11';
const started = ['attempt', 'method', 'path'];
const ended = ['attempt', 'durationMs', 'method', 'outcome', 'path'];

describe('the tracing channel merchant-payments:request', () => {
  it('tells exactly these keys about a success', async () => {
    const events = recordEvents();
    const server = await startRawServer({ answer: () => httpAnswer(201, { requestId }) });
    await createClient(`${server.url}/v2`).request({ method: 'GET', path: '/orders?of=hunter2' });
    const all = [...ended, 'requestId', 'status'].sort();
    expect(events.map(({ name, keys }) => [name, keys])).toEqual([
      ['start', started],
      ['end', started],
      ['asyncStart', [...all, 'result'].sort()],
      ['asyncEnd', [...all, 'result'].sort()],
    ]);
    expect(events.at(-1)?.context).toEqual({
      method: 'GET',
      path: '/v2/orders',
      attempt: 1,
      status: 201,
      durationMs: expect.any(Number),
      requestId,
      outcome: 'accepted',
      result: undefined,
    });
  });

  it('tells exactly these keys about a failure, and the error that the caller gets', async () => {
    const events = recordEvents();
    const answer = httpAnswer(422, { code: 'NO', message: 'm', requestId });
    const server = await startRawServer({ answer: () => answer });
    const error = await failureOf(createClient(server.url).payments.create(order));
    const all = [...ended, 'error', 'requestId', 'status'].sort();
    expect(events.map(({ name, keys }) => [name, keys])).toEqual([
      ['start', started],
      ['end', started],
      ['error', all],
      ['asyncStart', all],
      ['asyncEnd', all],
    ]);
    expect(events.at(-1)?.context).toMatchObject({ status: 422, requestId, outcome: 'rejected' });
    expect(events.at(-1)?.context['error']).toBe(error);
  });

  it('tells no status and no requestId without an answer', async () => {
    const events = recordEvents();
    const server = await startRawServer({ answer: ({ socket }) => void socket.resetAndDestroy() });
    await failureOf(createClient(server.url).payments.create(order));
    expect(events.at(-1)?.keys).toEqual([...ended, 'error'].sort());
    expect(events.at(-1)?.context).toMatchObject({ outcome: 'unknown' });
  });

  it('tells each attempt by itself', async () => {
    withoutJitter();
    const events = recordEvents();
    const server = await startRawServer({
      answer: (_request, index) => (index === 0 ? httpAnswer(429) : created),
    });
    await createClient(server.url).payments.create(order);
    const ends = events.filter(({ name }) => name === 'asyncEnd').map(({ context }) => context);
    expect(ends).toMatchObject([
      { attempt: 1, status: 429, outcome: 'rejected' },
      { attempt: 2, status: 201, outcome: 'accepted' },
    ]);
    expect(events.filter(({ name }) => name === 'error')).toHaveLength(1);
  });
});

describe('the logger', () => {
  it('gets one line at debug for a success', async () => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => created });
    await createClient(server.url, { logger }).payments.create(order);
    expect(lines).toEqual([
      {
        level: 'debug',
        message: 'merchant-payments: request succeeded',
        fields: {
          method: 'POST',
          path: '/api/payments',
          attempt: 1,
          status: 201,
          durationMs: expect.any(Number),
          outcome: 'accepted',
        },
      },
    ]);
  });

  it('gets a line at warn for a failure that is retried, and at error for the last', async () => {
    withoutJitter();
    const { lines, logger } = recordLines();
    const baseUrl = `http://127.0.0.1:${await refusedPort()}`;
    await failureOf(createClient(baseUrl, { logger, maxRetries: 1 }).payments.create(order));
    const fields = {
      method: 'POST',
      path: '/api/payments',
      durationMs: expect.any(Number),
      outcome: 'not-sent',
      code: 'CONNECTION_FAILED',
    };
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'merchant-payments: request failed, will retry',
        fields: { ...fields, attempt: 1 },
      },
      {
        level: 'error',
        message: 'merchant-payments: request failed',
        fields: { ...fields, attempt: 2 },
      },
    ]);
  });

  it('gets no request body, header or credential', async () => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({
      answer: () => httpAnswer(201, { note: 'in-the-answer' }, { 'x-answer': 'in-a-header' }),
    });
    const client = createClient(server.url, { logger });
    await client.payments.create(order, { extraBody: { note: 'in-the-request' } });
    const text = JSON.stringify(lines);
    for (const marker of ['in-the-answer', 'in-a-header', 'in-the-request', 'order-1001', apiKey]) {
      expect(text).not.toContain(marker);
    }
  });

  const diskIsFull = () => {
    throw new Error('the disk is full');
  };

  it.each([
    ['throws', 'a success', created, diskIsFull],
    ['throws', 'a failure', httpAnswer(400), diskIsFull],
    // Vitest fails for an unhandled rejection.
    ['rejects', 'a success', created, async () => diskIsFull()],
    ['rejects', 'a failure', httpAnswer(400), async () => diskIsFull()],
  ])('that %s changes nothing about %s', async (_how, _what, answer, fail) => {
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const server = await startRawServer({ answer: () => answer });
    const call = createClient(server.url, { logger }).payments.create(order);
    if (answer === created) expect((await call).response.status).toBe(201);
    else expect(await failureOf(call)).toMatchObject({ httpStatus: 400 });
  });

  it.each([
    ['no object', httpAnswer(200, '7')],
    ['null', httpAnswer(200, 'null')],
    ['a requestId that is no text', httpAnswer(200, { requestId: 7 })],
  ])('gets no requestId from %s', async (_what, answer) => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => answer });
    await createClient(server.url, { logger }).request({ method: 'GET', path: '/x' });
    expect(lines[0]?.fields).not.toHaveProperty('requestId');
  });
});

describe('observe', () => {
  const subject = { method: 'GET', path: '/x', attempt: 1 };
  const report = () => ({
    status: 200,
    requestId: undefined,
    outcome: 'accepted' as const,
    failure: undefined,
  });

  it('is skipped without a subscriber or logger', () => {
    expect(isObserved(undefined)).toBe(false);
    expect(isObserved(console)).toBe(true);
    recordEvents();
    expect(isObserved(undefined)).toBe(true);
  });

  it('tells how long the work took', async () => {
    const events = recordEvents();
    const beforeMs = performance.now();
    await observe(subject, undefined, () => new Promise(setImmediate), report);
    const tookMs = performance.now() - beforeMs;
    const durationMs = events.at(-1)?.context['durationMs'];
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(tookMs);
  });

  it('passes on a rejection of the work to caller and subscribers', async () => {
    const events = recordEvents();
    const failure = new Error('a defect');
    const run = () => Promise.reject(failure);
    await expect(observe(subject, undefined, run, report)).rejects.toBe(failure);
    expect(events.at(-1)?.context['error']).toBe(failure);
  });
});
