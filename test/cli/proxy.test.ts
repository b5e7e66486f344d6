import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PaymentClient } from '../../src/index.js';
import { startMockServer } from '../../src/mock-server/index.js';
import { corporateCa, corporateIdentity } from '../client/corporate-ca.js';
import { isSigned, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { readEvents, runCommand, startCommand, startHere } from './command-process.js';

const creation = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
const ports = ['--port', '0', '--callback-port', '0'];

test('requests and callbacks pass, with the faults that fault add added', async () => {
  await using endpoint = await startEndpoint();
  await using service = await startMockServer();
  const line = ['proxy', '--upstream', service.url, '--forward-callbacks-to', endpoint.url];
  await using proxy = startHere([...line, ...ports]);
  const shown = await proxy.printed(
    /address {4}(\S+)\n {2}callbacks {2}(\S+)\n[\s\S]*Ctrl-C to stop/,
  );
  const [, url = '', callbackUrl = ''] = shown;
  service.callbackUrl = callbackUrl;
  const { apiKey, apiSecret } = service;
  await using client = new PaymentClient({ baseUrl: url, apiKey, apiSecret });
  const fault = (...words: string[]) => runCommand(['fault', ...words, '--mock-url', url]);

  expect(await fault('add', 'request', 'lost-answer')).toMatchObject({ code: 0 });
  await expect(client.payments.create(creation)).rejects.toMatchObject({
    requestOutcome: 'unknown',
  });
  const [payment] = service.payments.list();
  expect(payment).toMatchObject(creation);

  expect(await fault('add', 'callback', 'duplicate')).toMatchObject({ code: 0 });
  await service.setStatus(payment?.referenceNumber ?? '', 'paid');
  expect(endpoint.received).toHaveLength(2);
  expect(endpoint.received[1]?.rawBody).toEqual(endpoint.received[0]?.rawBody);
  expect(endpoint.received.every((one) => isSigned(one, service.signingSecret))).toBe(true);

  expect(await fault('add', 'callback', 'wrong-secret')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('needs the signing secret, which a proxy does not know'),
  });
  expect((await fault('list')).stderr).toContain('no faults are pending');
  const { stdout } = proxy.output;
  expect(stdout).toMatch(
    /request {3}POST \/api\/payments, connection broken, fault lost-answer, order-1, \d+ ms\n/,
  );
  expect(stdout).toMatch(
    /callback {2}POST \/callbacks\/payments, 200, fault duplicate, order-1, \d+ ms\n/,
  );
});

test('an https upstream with its own CA is reached only when Node trusts the CA', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'proxy-'));
  const ca = path.join(folder, 'ca.pem');
  writeFileSync(ca, corporateCa);
  const received: (string | undefined)[] = [];
  const upstream = createServer(corporateIdentity, (request, response) => {
    received.push(request.headers.host);
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"status":"open"}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true });
  });
  const host = `localhost:${(upstream.address() as AddressInfo).port}`;
  const createThrough = async (env: Record<string, string>) => {
    const line = ['proxy', '--upstream', `https://${host}`, '--port', '0'];
    await using proxy = startCommand(line, env);
    const [, url = ''] = await proxy.printed(/address {4}(\S+)\n/);
    const answer = await fetch(`${url}/api/payments`, { method: 'POST', body: '{}' });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await createThrough({})).toMatchObject({
    status: 502,
    body: { message: 'The connection failed with UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  });
  expect(received).toEqual([]);
  expect(await createThrough({ NODE_EXTRA_CA_CERTS: ca })).toEqual({
    status: 201,
    body: { status: 'open' },
  });
  expect(received).toEqual([host]);
});

test('starts with the faults of --fault, and prints JSON', async () => {
  await using service = await startMockServer();
  const fault = JSON.stringify({ on: 'request', type: 'server-error', times: 'unlimited' });
  const line = ['proxy', '--upstream', service.url, ...ports, '--fault', fault, '--json'];
  await using proxy = startHere(line);
  await proxy.printed(/listening.*\n/);
  const [{ url } = {}] = readEvents(proxy) as { url?: string }[];
  for (const _ of [1, 2]) expect((await fetch(`${url}/api/payments`)).status).toBe(500);
  await proxy.printed(/(?:"exchange".*\n.*){2}/);
  expect(readEvents(proxy)).toMatchObject([
    { type: 'listening', callbackUrl: null },
    { type: 'exchange', kind: 'request', status: 500, fault: 'server-error' },
    { type: 'exchange', kind: 'request', status: 500, fault: 'server-error' },
  ]);
});

test.each<[string, string[], string]>([
  ['no upstream', [], '--upstream is missing: give --upstream <url>'],
  [
    'http to another machine',
    ['--upstream', 'http://sandbox.example'],
    '--upstream: upstream must be an https: URL',
  ],
  [
    'a fault that it can not do',
    ['--upstream', 'https://sandbox.example', '--fault', '{"on":"callback","type":"extra-field"}'],
    '--fault: fault.type extra-field needs the signing secret',
  ],
  [
    'a fault that is not JSON',
    ['--upstream', 'https://sandbox.example', '--fault', 'hang'],
    '--fault must be JSON',
  ],
  [
    'a callback endpoint that is no URL',
    ['--upstream', 'https://sandbox.example', '--forward-callbacks-to', 'here'],
    '--forward-callbacks-to must be an http or https URL',
  ],
])('%s is refused', async (_what, given, message) => {
  const { code, stdout, stderr } = await runCommand(['proxy', ...given, ...ports]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('SIGTERM stops it with exit code 0, and a port in use is named', async () => {
  await using proxy = startCommand(['proxy', '--upstream', 'https://sandbox.example', ...ports]);
  const [, port = ''] = await proxy.printed(/address {4}\S+:(\d+)\n[\s\S]*Ctrl-C to stop\.\n/);
  const second = ['proxy', '--upstream', 'https://sandbox.example', '--port', port];
  expect(await runCommand(second)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`),
  });
  proxy.child.kill('SIGTERM');
  expect(await proxy.ended).toMatchObject({ code: 0, signal: null });
});
