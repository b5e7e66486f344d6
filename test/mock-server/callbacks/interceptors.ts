import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { checkCallbackEndpoint } from '../../../src/testing/index.js';
import { cert, key } from '../../client/tls-identity.js';
import { createPayment } from '../merchant-client.js';

/** An endpoint that acknowledges everything. */
async function startEndpoint(scheme: 'http' | 'https'): Promise<string> {
  const server = scheme === 'https' ? createTlsServer({ cert, key }) : createServer();
  server.on('request', (request, response) => request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
}

/** What holds while a test's tool refuses every request of the process. `block` begins that, until the test ends. */
export function describeBlockedProcess(block: () => void): void {
  test.each(['http', 'https'] as const)('a callback by %s arrives', async (scheme) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    await using service = await startMockServer({ callbackUrl: await startEndpoint(scheme) });
    const referenceNumber = await createPayment(service);
    block();
    await service.setStatus(referenceNumber, 'paid');
    const attempt = await service.waitForDelivery({ referenceNumber, status: 'paid' });
    expect(attempt).toMatchObject({ outcome: 'acknowledged', response: { status: 200 } });
  });

  test('an endpoint that is not there is reported as such', async () => {
    await using service = await startMockServer({ callbackUrl: 'http://127.0.0.1:1/' });
    const referenceNumber = await createPayment(service);
    block();
    await service.setStatus(referenceNumber, 'paid');
    const attempt = await service.waitForDelivery({ referenceNumber });
    expect(attempt).toMatchObject({ outcome: 'failed', errorCode: 'ECONNREFUSED' });
  });

  test('the check of an endpoint reaches it', async () => {
    const url = await startEndpoint('http');
    block();
    const { checks } = await checkCallbackEndpoint(url, { signingSecret: 'a secret' });
    expect(checks.find(({ id }) => id === 'valid-accepted')).toMatchObject({ outcome: 'passed' });
  });
}
