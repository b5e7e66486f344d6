import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { MockAgent } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { apiKey, apiSecret, failureOf, order } from './raw-server.js';
import { cert, key } from './tls-identity.js';

const credentials = { apiKey, apiSecret };
const required = { baseUrl: 'https://payments.example', ...credentials };
const turnOff = (value = '0') => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', value);
  onTestFinished(() => void vi.unstubAllEnvs());
};
const refusal = {
  name: 'InvalidOptionError',
  option: 'NODE_TLS_REJECT_UNAUTHORIZED',
  message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
};

/** Makes a client that is closed after the test. */
function open(options: Partial<ConstructorParameters<typeof PaymentClient>[0]> = {}) {
  const client = new PaymentClient({ ...required, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe('with certificate checks turned off', () => {
  it.each([
    'https://payments.example',
    'https://payments.example:8443/v2',
    'https://10.0.0.7',
    'https://[2001:db8::1]',
    'https://pay.localhost',
    'https://localhost.',
  ])('a client of %s is refused', (baseUrl) => {
    turnOff();
    expect(() => open({ baseUrl })).toThrow(expect.objectContaining(refusal));
    expect(() => PaymentClient.fromEnv({ ...credentials, baseUrl }, {})).toThrow(
      expect.objectContaining(refusal),
    );
  });

  it.each(['https://localhost:8443', 'https://127.0.0.1', 'https://[::1]'])(
    'a client of %s is accepted',
    (baseUrl) => {
      turnOff();
      expect(open({ baseUrl })).toBeInstanceOf(PaymentClient);
    },
  );

  it.each(['1', '', '00', 'false'])('%j is not off, as in Node', (value) => {
    turnOff(value);
    expect(open()).toBeInstanceOf(PaymentClient);
  });

  it('a client without its variables is made, and refused once they are there', async () => {
    turnOff();
    const client = PaymentClient.fromEnv({}, {});
    expect(client).toBeInstanceOf(PaymentClient);
    vi.stubEnv('MERCHANT_PAYMENTS_BASE_URL', required.baseUrl);
    expect(() => PaymentClient.fromEnv(credentials)).toThrow(expect.objectContaining(refusal));
  });

  it('after the client was made, its first call fails and sends nothing', async () => {
    const client = open();
    turnOff();
    const failure = await failureOf(client.payments.create(order));
    expect(failure).toMatchObject({ ...refusal, requestOutcome: 'not-sent' });
  });

  it('a fetch of the caller’s decides', async () => {
    turnOff();
    const client = open({ fetch: async () => Response.json({}, { status: 201 }) });
    expect((await client.payments.create(order)).response.status).toBe(201);
  });

  it('a dispatcher of the caller’s decides', async () => {
    turnOff();
    const agent = new MockAgent();
    agent.disableNetConnect();
    agent.get(required.baseUrl).intercept({ path: '/api/payments', method: 'POST' }).reply(201, {});
    const client = open({ dispatcher: agent });
    expect((await client.payments.create(order)).response.status).toBe(201);
  });

  it('a service on this machine is reached', async () => {
    const server = createServer({ cert, key }, (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    turnOff();
    const { port } = server.address() as AddressInfo;
    const client = open({ baseUrl: `https://127.0.0.1:${port}` });
    expect((await client.payments.create(order)).response.status).toBe(201);
  });
});
