import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createRunningClock, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { control } from './control-client.js';

const signingSecret = 'whsec_of_the_endpoint_tools';

type Answer = Awaited<ReturnType<typeof control>>;

/** Returns the check once it has ended. */
async function endOfCheck(server: { url: string }): Promise<Answer> {
  await expect
    .poll(async () => (await control(server, 'GET', '/check')).body['isRunning'], {
      timeout: 50_000,
    })
    .toBe(false);
  return control(server, 'GET', '/check');
}

describe('the check of the endpoint', () => {
  test('is started, followed and read, and signs with the mock’s secret without showing it', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using server = await startMockServer({ signingSecret, callbackUrl: merchant.url });
    expect((await control(server, 'GET', '/check')).body).toEqual({ isRunning: false, checks: [] });
    const started = await control(server, 'POST', '/check', {});
    expect(started).toMatchObject({ status: 202, body: { isRunning: true } });
    const again = await control(server, 'POST', '/check', {});
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    const { body } = await endOfCheck(server);
    expect(body['report']).toMatchObject({ url: merchant.url, passed: true });
    expect(body['checks']).toEqual((body['report'] as { checks: unknown }).checks);
    expect(inspect(body, { depth: null, maxStringLength: null })).not.toContain(signingSecret);
    // The payments that it invents are not the mock's.
    expect(server.deliveries).toEqual([]);
  });

  test('finds what is wrong with an endpoint', async () => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    await control(server, 'POST', '/check', {});
    const { body } = await endOfCheck(server);
    expect(body['report']).toMatchObject({ passed: false, cause: expect.any(String) });
  });

  test.each(['seconds', 'milliseconds'] as const)(
    'signs with the settings of the mock: %s and base64',
    async (timestampUnit) => {
      await using endpoint = await startEndpoint(() => 401);
      const settings = { signingSecret, timestampUnit, signatureEncoding: 'base64' } as const;
      await using server = await startMockServer({ ...settings, callbackUrl: endpoint.url });
      await control(server, 'POST', '/check', {});
      await endpoint.waitFor(1);
      const { headers } = endpoint.received[0] ?? {};
      expect(headers?.['x-timestamp']).toHaveLength(timestampUnit === 'seconds' ? 10 : 13);
      expect(headers?.['x-signature']).toMatch(/^[\w+/]{43}=$/);
      await control(server, 'DELETE', '/check');
      await endOfCheck(server);
    },
  );

  test('is cancelled on request, and when the mock is closed', async () => {
    await using endpoint = await startEndpoint(() => undefined);
    const server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    await control(server, 'POST', '/check', {});
    await endpoint.waitFor(1);
    await control(server, 'DELETE', '/check');
    const { body } = await endOfCheck(server);
    expect(body).toMatchObject({ failure: expect.stringContaining('aborted') });
    await control(server, 'POST', '/check', {});
    await endpoint.waitFor(2);
    await server.close();
  });

  test.each([
    { effectCounts: 'all' },
    { merchantPaymentReference: ' ' },
    { countEffects: 'ftp://nowhere' },
    { signingSecret: 'mine' },
    { timeoutMs: 1 },
  ])('%j is refused, and nothing is sent', async (body) => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    expect(await control(server, 'POST', '/check', body)).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_REQUEST',
        message: expect.stringContaining(Object.keys(body)[0] ?? ''),
      },
    });
    expect((await control(server, 'GET', '/check')).body).toEqual({ isRunning: false, checks: [] });
    expect(endpoint.received).toEqual([]);
  });

  test('needs a callback URL', async () => {
    await using server = await startMockServer();
    expect(await control(server, 'POST', '/check', {})).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('callbackUrl') },
    });
  });
});

describe('the diagnosis', () => {
  test('of a valid attempt finds nothing, even after the clock was moved', async () => {
    await using endpoint = await startEndpoint(() => 401);
    const clock = createRunningClock();
    await using server = await startMockServer({
      signingSecret,
      clock,
      callbackUrl: endpoint.url,
      retryScheduleMs: [],
    });
    await server.setStatus(await createPayment(server), 'paid');
    await clock.advance(86_400_000);
    const [attempt] = server.deliveries;
    const { status, body } = await control(server, 'POST', '/diagnose', { attemptId: attempt?.id });
    expect(status).toBe(200);
    expect(body).toMatchObject({ verified: true, findings: [] });
  });

  test.each(['seconds', 'milliseconds'] as const)(
    'verifies with the settings of the mock: %s',
    async (timestampUnit) => {
      await using endpoint = await startEndpoint(() => 401);
      const settings = { signingSecret, timestampUnit, callbackUrl: endpoint.url };
      await using server = await startMockServer(settings);
      await server.setStatus(await createPayment(server), 'paid');
      const [received] = endpoint.received;
      const captured = { headers: received?.headers, body: received?.rawBody.toString() };
      const { body } = await control(server, 'POST', '/diagnose', captured);
      expect(body).toMatchObject({ verified: true });
      const other = timestampUnit === 'seconds' ? 'milliseconds' : 'seconds';
      await using another = await startMockServer({ ...settings, timestampUnit: other });
      const answer = await control(another, 'POST', '/diagnose', captured);
      expect(answer.body['findings']).toMatchObject([{ code: 'timestamp-unit' }]);
    },
  );

  test('of an attempt reports what its fault did', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    server.faults.add({ on: 'callback', type: 'stale-timestamp' });
    await server.setStatus(await createPayment(server), 'paid');
    const [attempt] = server.deliveries;
    const { body } = await control(server, 'POST', '/diagnose', { attemptId: attempt?.id });
    expect(body['findings']).toMatchObject([
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

  test('of what an endpoint received reports how it was changed', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({ signingSecret, callbackUrl: endpoint.url });
    await server.setStatus(await createPayment(server), 'paid');
    const [received] = endpoint.received;
    const body = JSON.stringify(JSON.parse(received?.rawBody.toString() ?? ''), null, 2);
    const answer = await control(server, 'POST', '/diagnose', { headers: received?.headers, body });
    expect(answer.body['findings']).toMatchObject([{ code: 'body-reserialized' }]);
  });

  test.each([
    [{ attemptId: 'unknown' }, 404],
    [{}, 400],
    [{ headers: 5, body: '' }, 400],
    [{ headers: {}, body: '', signingSecret: '' }, 400],
    [{ headers: {}, body: '', at: 0 }, 400],
  ])('%j is answered with %i', async (body, status) => {
    await using server = await startMockServer();
    expect((await control(server, 'POST', '/diagnose', body)).status).toBe(status);
  });
});

test('these calls are guarded as the others are', async () => {
  await using server = await startMockServer();
  for (const [method, path] of [
    ['GET', '/callbacks'],
    ['POST', '/callbacks/resend'],
    ['POST', '/check'],
    ['DELETE', '/check'],
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
