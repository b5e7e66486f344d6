import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { control } from './control-client.js';

const signingSecret = 'whsec_of_the_endpoint_tools';

describe('the diagnosis', () => {
  test('of a valid attempt finds nothing, even after the clock was moved', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({
      signingSecret,
      callbackUrl: endpoint.url,
      retryScheduleMs: [],
    });
    await server.setStatus(await createPayment(server), 'paid');
    await control(server, 'POST', '/clock/advance', { ms: 86_400_000 });
    const [attempt] = server.deliveries;
    const { status, body } = await control(server, 'POST', '/diagnose', { attemptId: attempt?.id });
    expect(status).toBe(200);
    expect(body).toMatchObject({ verified: true, findings: [] });
  });

  test.each(['seconds', 'milliseconds'] as const)(
    'verifies with the settings of the mock: %s',
    async (timestampUnit) => {
      await using endpoint = await startEndpoint(() => 401);
      const settings = { signingSecret, timestampUnit, signatureEncoding: 'base64' } as const;
      await using server = await startMockServer({ ...settings, callbackUrl: endpoint.url });
      await server.setStatus(await createPayment(server), 'paid');
      const [attempt] = server.deliveries;
      const { body } = await control(server, 'POST', '/diagnose', { attemptId: attempt?.id });
      expect(body).toMatchObject({ verified: true });
    },
  );

  test('of an attempt begins with the fault that the mock applied, then what that did', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    server.faults.add({ on: 'callback', type: 'stale-timestamp' });
    await server.setStatus(await createPayment(server), 'paid');
    const [attempt] = server.deliveries;
    const { body } = await control(server, 'POST', '/diagnose', { attemptId: attempt?.id });
    expect(body['findings']).toMatchObject([
      {
        code: 'mock-fault',
        message:
          'The mock applied the fault stale-timestamp: signed with a time in the past. Your endpoint should answer 401',
        remedy: expect.stringContaining('Resend the callback without a fault'),
      },
      { code: 'timestamp-outside-window', skewSeconds: 600 },
    ]);
  });

  test('tries the secret of the endpoint', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    await server.setStatus(await createPayment(server), 'paid');
    const [attempt] = server.deliveries;
    const { body } = await control(server, 'POST', '/diagnose', {
      attemptId: attempt?.id,
      signingSecret: `"${signingSecret}"`,
    });
    expect(body['findings']).toMatchObject([{ code: 'secret-quoted' }]);
    expect(inspect(body, { depth: null })).not.toContain(signingSecret);
  });

  test.each([
    [{ attemptId: 'unknown' }, 404],
    [{}, 400],
    [{ attemptId: 5 }, 400],
    [{ attemptId: 'unknown', signingSecret: '' }, 400],
    [{ attemptId: 'unknown', at: 0 }, 400],
  ])('%j is answered with %i', async (body, status) => {
    await using server = await startMockServer();
    expect((await control(server, 'POST', '/diagnose', body)).status).toBe(status);
  });
});

test('these calls are guarded as the others are', async () => {
  await using server = await startMockServer();
  for (const [method, path] of [
    ['GET', '/callbacks'],
    ['POST', '/diagnose'],
  ] as const) {
    const answer = await fetch(`${server.url}/_mock${path}`, {
      method,
      headers: { origin: 'http://evil.example' },
    });
    expect(answer.status, path).toBe(403);
    if (method !== 'POST') continue;
    const plain = await fetch(`${server.url}/_mock${path}`, { method, body: '{}' });
    expect(plain.status, path).toBe(415);
  }
});
