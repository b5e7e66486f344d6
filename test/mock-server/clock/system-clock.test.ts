import { describe, expect, test } from 'vitest';
import { createSystemClock } from '../../../src/mock-server/state/clock.js';
import { control } from '../control/control-client.js';
import { startWithPayment } from '../merchant-client.js';
import { isSigned, startEndpoint } from '../merchant-endpoint.js';

describe('the system’s clock', () => {
  test('tells the time of the system and runs its timers', async () => {
    const clock = createSystemClock();
    const before = Date.now();
    await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 1));
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
  });

  test('moved ahead it runs on from there, while it signs with the time of the system', async () => {
    const clock = createSystemClock();
    const before = Date.now();
    await clock.advance(3_600_000);
    expect(clock.now()).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(clock.now()).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(clock.signingTime()).toBeLessThanOrEqual(Date.now());
  });

  test('runs what falls due in order and each once, those set on the way too', async () => {
    const clock = createSystemClock();
    const runs: string[] = [];
    clock.setTimeout(() => runs.push('late'), 300_000);
    clock.setTimeout(() => {
      runs.push('early');
      clock.setTimeout(() => runs.push('set on the way'), 100_000);
    }, 100_000);
    await clock.advance(400_000);
    await clock.advance(400_000);
    expect(runs).toEqual(['early', 'set on the way', 'late']);
  });

  test('brings forward what is not yet due', async () => {
    const clock = createSystemClock();
    const ran = new Promise((resolve) => clock.setTimeout(() => resolve('ran'), 3_600_000));
    await clock.advance(3_599_999);
    // A millisecond of real time is left.
    expect(await ran).toBe('ran');
  });

  test('does not run a timer that was cancelled, before or after it was moved', async () => {
    const clock = createSystemClock();
    let runs = 0;
    const count = () => {
      runs += 1;
    };
    clock.setTimeout(count, 5)();
    const later = clock.setTimeout(count, 3_600_000);
    await clock.advance(3_599_990);
    later();
    await clock.advance(3_600_000);
    expect(runs).toBe(0);
  });

  test('a timer that ran by itself does not run again when the clock is moved', async () => {
    const clock = createSystemClock();
    let runs = 0;
    await new Promise<void>((resolve) =>
      clock.setTimeout(() => {
        runs += 1;
        resolve();
      }, 1),
    );
    await clock.advance(1_000);
    expect(runs).toBe(1);
  });
});

test('an endpoint on the system’s clock accepts the retries of hours that were skipped', async () => {
  await using endpoint = await startEndpoint((count) => (count < 3 ? 500 : 200));
  const { server, referenceNumber } = await startWithPayment({
    callbackUrl: endpoint.url,
    retryScheduleMs: [3_600_000, 86_400_000],
  });
  await using _ = server;
  await server.setStatus(referenceNumber, 'paid');
  await control(server, 'POST', '/clock/advance', { ms: 2 * 86_400_000 });
  expect(endpoint.received).toHaveLength(3);
  for (const callback of endpoint.received) {
    expect(isSigned(callback, server.signingSecret)).toBe(true);
    const sentAt = Number(callback.headers['x-timestamp']) * 1000;
    expect(Math.abs(Date.now() - sentAt)).toBeLessThan(300_000);
  }
});
