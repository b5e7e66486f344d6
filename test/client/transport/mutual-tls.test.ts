import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { corporateCa, corporateIdentity } from '../corporate-ca.js';
import { apiKey, apiSecret, failureOf, order, record } from '../raw-server.js';

// Stands for a gateway that asks for a certificate of the company's own CA.
let server: Server;
let seen: string[];
beforeAll(async () => {
  server = createServer(
    { ...corporateIdentity, ca: corporateCa, requestCert: true },
    (request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(record));
    },
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

function connectWith(identity: object): PaymentClient {
  seen = [];
  const dispatcher = new Agent({ connect: { ca: corporateCa, ...identity } });
  onTestFinished(() => dispatcher.close());
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  return new PaymentClient({ baseUrl, apiKey, apiSecret, maxRetries: 0, dispatcher });
}

it('a dispatcher shows the certificate that the service asks for', async () => {
  const { response } = await connectWith(corporateIdentity).payments.create(order);
  expect(response.status).toBe(201);
  expect(seen).toEqual(['/api/payments']);
});

// TLS 1.2 refuses within the handshake. TLS 1.3 refuses after the client's part of it, when the request is written.
it.each([
  ['TLSv1.2', 'not-sent'],
  ['TLSv1.3', 'unknown'],
] as const)(
  'over %s, a call without a certificate ends as a connection error: %s',
  async (version, outcome) => {
    const error = await failureOf(connectWith({ maxVersion: version }).payments.create(order));
    expect(error).toMatchObject({ name: 'ConnectionError', requestOutcome: outcome });
    expect(seen).toEqual([]);
  },
);
