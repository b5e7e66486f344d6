import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callbackKey } from '../../src/callback/verify.js';
import type { CallbackTrace } from '../../src/receiver/observation.js';
import { OTHER_SECRET, sampleRecord } from '../callback/sample-callback.js';
import { createScene, post, postBody, stopTime, storeThat } from './scene.js';

function subscribe() {
  const started: CallbackTrace[] = [];
  const ended: CallbackTrace[] = [];
  const ignore = () => undefined;
  const listeners = {
    start: (trace: object) => void started.push({ ...(trace as CallbackTrace) }),
    asyncEnd: (trace: object) => void ended.push({ ...(trace as CallbackTrace) }),
    end: ignore,
    asyncStart: ignore,
    error: ignore,
  };
  const channel = tracingChannel<object, object>('merchant-payments:callback');
  channel.subscribe(listeners);
  onTestFinished(() => void channel.unsubscribe(listeners));
  return { started, ended };
}

const key = callbackKey(sampleRecord());

describe('the tracing channel merchant-payments:callback', () => {
  it('tells the start, and at the end what became of the callback', async () => {
    const { started, ended } = subscribe();
    const startedAtMs = performance.now();
    const reply = await createScene().receive(post());
    const tookMs = performance.now() - startedAtMs;
    expect(started).toEqual([{ method: 'POST' }]);
    expect(ended).toEqual([
      {
        method: 'POST',
        status: 200,
        outcome: 'processed',
        key,
        durationMs: expect.any(Number),
        result: reply,
      },
    ]);
    expect(ended[0]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(ended[0]?.durationMs).toBeLessThanOrEqual(tookMs);
  });

  it.each([
    ['no signature', { ...post(), headers: {} }, 401, 'rejected', 'MISSING_TIMESTAMP'],
    ['another secret', post({}, { secret: OTHER_SECRET }), 401, 'rejected', 'SIGNATURE_MISMATCH'],
    ['no record', postBody('{}'), 422, 'rejected', 'INVALID_RECORD'],
    ['another method', { ...post(), method: 'GET' }, 405, 'rejected', undefined],
  ])('tells why a callback was refused: %s', async (_, request, status, outcome, code) => {
    const { ended } = subscribe();
    await createScene().receive(request);
    expect(ended).toMatchObject([{ status, outcome }]);
    expect(ended[0]?.code).toBe(code);
    expect(ended[0]).not.toHaveProperty('key');
    expect(ended[0]).not.toHaveProperty('skewSeconds');
  });

  it('tells that a change which stays busy is overdue', async () => {
    const { ended } = subscribe();
    stopTime('performance');
    const scene = createScene({ store: storeThat(() => ({ outcome: 'busy' })) });
    const old = post({ updatedAt: '2026-01-31T11:00:00Z' });
    for (const request of [post(), old]) await scene.receive(request);
    vi.advanceTimersByTime(60_000);
    await scene.receive(old);
    expect(ended.map(({ overdue }) => overdue)).toEqual([undefined, undefined, true]);
  });

  it.each([null, Object.assign(new Error('m'), { code: 'ECONNREFUSED', skewSeconds: 1 })])(
    'tells no code but those of this package: %s',
    async (reason) => {
      const { ended } = subscribe();
      const scene = createScene({ onPayment: () => Promise.reject(reason) });
      expect(await scene.receive(post())).toMatchObject({ status: 500 });
      expect(ended).toMatchObject([{ status: 500, outcome: 'failed' }]);
      expect(ended[0]).not.toHaveProperty('code');
      expect(ended[0]).not.toHaveProperty('skewSeconds');
    },
  );
});
