import { describe, expect, it, vi } from 'vitest';
import type { VerifiedCallback } from '../../src/callback/options.js';
import { callbackKey } from '../../src/callback/verify.js';
import { RetryLaterError } from '../../src/errors.js';
import type { StandardSchemaV1 } from '../../src/protocol/standard-schema.js';
import { OTHER_SECRET, sampleRecord } from '../callback/sample-callback.js';
import { failingLoggers, recordLines } from '../protocol/recorded-lines.js';
import { createScene, post } from './scene.js';

const key = callbackKey(sampleRecord());
const refusing: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'own', validate: () => ({ issues: [{ message: 'no' }] }) },
};
const refused = () => post({}, { secret: OTHER_SECRET });

describe('the logger of a receiver', () => {
  it('gets one line at debug for what was processed, now or before', async () => {
    const { lines, logger } = recordLines();
    const scene = createScene({ logger });
    await scene.receive(post());
    await scene.receive(post());
    const fields = { method: 'POST', status: 200, key, durationMs: expect.any(Number) };
    expect(lines).toEqual([
      {
        level: 'debug',
        message: 'merchant-payments: callback processed',
        fields: { ...fields, outcome: 'processed' },
      },
      {
        level: 'debug',
        message: 'merchant-payments: callback was processed before',
        fields: { ...fields, outcome: 'duplicate' },
      },
    ]);
  });

  it('gets what the service is to retry at info, and what failed at error', async () => {
    const { lines, logger } = recordLines();
    for (const reason of [new RetryLaterError('not stored'), new Error('order-1001 is locked')]) {
      const onPayment = () => Promise.reject(reason);
      await createScene({ logger, onPayment }).receive(post());
    }
    expect(lines).toMatchObject([
      { level: 'info', fields: { status: 503, outcome: 'busy', code: 'RETRY_LATER', key } },
      { level: 'error', fields: { status: 500, outcome: 'failed', key } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('is locked');
  });

  it('gets what still waits after ten minutes at warn', async () => {
    const { lines, logger } = recordLines();
    const onPayment = () => Promise.reject(new RetryLaterError('not stored'));
    await createScene({ logger, onPayment }).receive(post({ updatedAt: '2026-01-31T11:00:00Z' }));
    expect(lines).toMatchObject([
      { level: 'warn', fields: { outcome: 'busy', code: 'RETRY_LATER', overdue: true } },
    ]);
  });

  it('gets refused ones at warn once a minute for each code, and at debug meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { lines, logger } = recordLines();
    const scene = createScene({ logger });
    for (let count = 0; count < 3; count += 1) await scene.receive(refused());
    await scene.receive({ ...post(), headers: {} });
    await scene.receive({ ...post(), method: 'GET' });
    vi.advanceTimersByTime(60_000);
    await scene.receive(refused());
    vi.useRealTimers();
    expect(lines.map(({ level, fields }) => [level, fields['code'], fields['skipped']])).toEqual([
      ['warn', 'SIGNATURE_MISMATCH', 0],
      ['debug', 'SIGNATURE_MISMATCH', undefined],
      ['debug', 'SIGNATURE_MISMATCH', undefined],
      ['warn', 'MISSING_TIMESTAMP', 0],
      ['warn', undefined, 0],
      ['warn', 'SIGNATURE_MISMATCH', 2],
    ]);
    expect(new Set(lines.map(({ message }) => message))).toEqual(
      new Set(['merchant-payments: callback rejected']),
    );
  });

  it('stands for the console where callbacks are refused and there is no onRejected', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await createScene({ logger: recordLines().logger, onRejected: undefined }).receive(refused());
    expect(warn).not.toHaveBeenCalled();
    await createScene({ onRejected: undefined }).receive(refused());
    expect(warn).toHaveBeenCalledOnce();
  });

  it('gets both references of a verified callback at warn and error, and at debug and info none', async () => {
    const { lines, logger } = recordLines();
    const failing = (error: Error) =>
      createScene({ logger, onPayment: () => Promise.reject(error) });
    await createScene({ logger }).receive(post());
    await failing(new RetryLaterError('not stored')).receive(post());
    await failing(new RetryLaterError('not stored')).receive(
      post({ updatedAt: '2026-01-31T11:00:00Z' }),
    );
    await failing(new Error('no database')).receive(post());
    await createScene({ logger, recordSchema: refusing }).receive(post());
    await createScene({ logger }).receive(refused());
    const { merchantPaymentReference: order, referenceNumber: number } = sampleRecord();
    const shown = lines.map(({ level, fields: { merchantPaymentReference, referenceNumber } }) => {
      return [level, merchantPaymentReference, referenceNumber];
    });
    expect(shown).toEqual([
      ['debug', undefined, undefined],
      ['info', undefined, undefined],
      ['warn', order, number],
      ['error', order, number],
      ['warn', order, number],
      ['warn', undefined, undefined],
    ]);
  });

  it('gets them as the service sent them, whatever the work makes of its record', async () => {
    const { lines, logger } = recordLines();
    const onPayment = ({ payment }: VerifiedCallback) => {
      payment.referenceNumber = 'changed';
      throw new Error('no database');
    };
    await createScene({ logger, onPayment }).receive(post());
    const { referenceNumber } = sampleRecord();
    expect(lines).toMatchObject([{ level: 'error', fields: { referenceNumber } }]);
  });

  it('gets at most 256 characters of a reference, and no control', async () => {
    const { lines, logger } = recordLines();
    const scene = createScene({ logger, onPayment: () => Promise.reject(new Error('no')) });
    await scene.receive(
      post({ merchantPaymentReference: 'a\u009bb\u0085c\n', referenceNumber: 'x'.repeat(300) }),
    );
    expect(lines[0]?.fields).toMatchObject({
      merchantPaymentReference: 'a b c',
      referenceNumber: 'x'.repeat(256),
      key: expect.stringMatching(/^sha256\./),
    });
  });

  it.each(failingLoggers)('changes no reply when it $how', async ({ logger }) => {
    const scene = createScene({ logger });
    expect(await scene.receive(post())).toMatchObject({ status: 200, outcome: 'processed' });
    expect(await scene.receive(refused())).toMatchObject({ status: 401 });
  });

  it('must have four methods', () => {
    const logger = { debug: () => {} };
    expect(() => createScene({ logger: logger as never })).toThrow(
      /logger must be a logger like console \(with debug, info, warn, error\)/,
    );
  });
});
