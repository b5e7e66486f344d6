import { describe, expect, it } from 'vitest';
import { RetryLaterError, StoreError } from '../../src/errors.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { memoryStore } from '../../src/store/memory.js';
import { createScene, post, storeThat } from './scene.js';

type Options = Partial<CallbackReceiverOptions>;

const throws = (error: unknown): Options => ({
  onPayment: () => {
    throw error;
  },
});

const rows: [what: string, options: Options, request: object, status: number, body: object][] = [
  ['another method', {}, { method: 'GET' }, 405, { code: 'METHOD_NOT_ALLOWED' }],
  [
    'an order that is not stored yet',
    throws(new RetryLaterError('No order yet')),
    {},
    503,
    { code: 'RETRY_LATER', message: 'No order yet' },
  ],
  [
    'a payment that is busy',
    { store: storeThat(() => ({ outcome: 'busy' })) },
    {},
    503,
    { code: 'BUSY', message: 'Another delivery of this payment is being processed' },
  ],
  [
    'an error of the store',
    { store: { process: () => Promise.reject(new StoreError('MISSING_TABLES', 'run setup()')) } },
    {},
    500,
    { code: 'MISSING_TABLES', message: 'run setup()' },
  ],
  [
    'an error of onPayment',
    throws(new TypeError('connect postgres://user:planted@db')),
    {},
    500,
    { code: 'PROCESSING_FAILED', message: 'onPayment or the store threw TypeError; see onError' },
  ],
  [
    'a change that is parked',
    { ...throws(new Error('planted')), store: memoryStore(), parkAfter: 1 },
    {},
    200,
    { code: 'PROCESSING_FAILED' },
  ],
];

describe('explainAnswers', () => {
  it.each(rows)('explains %s', async (_what, options, request, status, body) => {
    const callback = { ...post(), ...request };
    const plain = await createScene(options).receive(callback);
    expect(plain.status).toBe(status);
    expect(plain).not.toHaveProperty('body');
    expect(plain.headers).not.toHaveProperty('content-type');
    const reply = await createScene({ ...options, explainAnswers: true }).receive(
      // The store parked the change at the first.
      status === 200 ? post({ referenceNumber: 'other' }) : callback,
    );
    expect(reply.headers).toEqual({ ...plain.headers, 'content-type': 'application/json' });
    expect(reply).toMatchObject({ status, outcome: plain.outcome });
    expect(JSON.parse(reply.body ?? '')).toMatchObject(body);
    expect(reply.body).not.toMatch(/planted/);
  });
});
