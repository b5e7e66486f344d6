import { describe, expect, it, vi } from 'vitest';
import { callbackKey } from '../../src/callback/verify.js';
import { RetryLaterError } from '../../src/errors.js';
import { schemaOf } from '../callback/contract/record-schema.js';
import { OTHER_SECRET, sampleRecord } from '../callback/sample-callback.js';
import { failingLoggers, recordLines } from '../protocol/recorded-lines.js';
import { createScene, post, stopTime } from './scene.js';

const key = callbackKey(sampleRecord());
const refusing = schemaOf(() => ({ issues: [{ message: 'no' }] }));
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

  it('gets what failed by its weight, with both references at warn and error alone', async () => {
    const { lines, logger } = recordLines();
    const failing = (error: Error) =>
      createScene({ logger, onPayment: () => Promise.reject(error) });
    const later = failing(new RetryLaterError('not stored'));
    await later.receive(post());
    await later.receive(post({ updatedAt: '2026-01-31T11:00:00Z' }));
    await failing(new Error('order-1001 is locked')).receive(post());
    await createScene({ logger, recordSchema: refusing }).receive(post());
    await createScene({ logger }).receive(refused());
    const { merchantPaymentReference, referenceNumber } = sampleRecord();
    const references = { merchantPaymentReference, referenceNumber };
    const none = { merchantPaymentReference: undefined, referenceNumber: undefined };
    const retry = { status: 503, outcome: 'busy', code: 'RETRY_LATER' };
    expect(
      lines.map(({ level, fields }) => ({ level, fields: { ...none, ...fields } })),
    ).toMatchObject([
      { level: 'info', fields: { ...retry, key, ...none } },
      { level: 'warn', fields: { ...retry, overdue: true, ...references } },
      { level: 'error', fields: { status: 500, outcome: 'failed', key, ...references } },
      { level: 'warn', fields: { status: 422, key, ...references } },
      { level: 'warn', fields: { status: 401, ...none } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('is locked');
  });

  it('gets refused ones at warn once a minute for each code, and at debug meanwhile', async () => {
    stopTime('performance');
    const { lines, logger } = recordLines();
    const scene = createScene({ logger });
    for (let count = 0; count < 3; count += 1) await scene.receive(refused());
    await scene.receive({ ...post(), headers: {} });
    await scene.receive({ ...post(), method: 'GET' });
    vi.advanceTimersByTime(60_000);
    await scene.receive(refused());
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

  it.each(failingLoggers)('changes no reply when it $how', async ({ logger }) => {
    const scene = createScene({ logger });
    expect(await scene.receive(post())).toMatchObject({ status: 200, outcome: 'processed' });
    expect(await scene.receive(refused())).toMatchObject({ status: 401 });
  });
});
