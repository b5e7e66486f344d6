import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../bundle.js';

const folder = path.resolve(mkdtempSync('test-artifacts/node-debug-'));
afterAll(() => rmSync(folder, { recursive: true }));

// A call that succeeds, one that is refused, a callback that is processed and a forged one.
beforeAll(async () => {
  const entry = path.join(folder, 'entry.ts');
  writeFileSync(
    entry,
    `
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import { createServer } from 'node:http';

const service = await startMockServer({ apiSecret: 'planted-api-secret', signingSecret: 'planted-signing-secret' });
const logger = process.argv[2] === 'logger' ? console : undefined;
const handler = callbackHandler({ signingSecret: service.signingSecret, logger, onPayment() {}, onRejected() {} });
const application = createServer(handler);
await new Promise((resolve) => application.listen(0, '127.0.0.1', () => resolve(undefined)));
service.callbackUrl = 'http://127.0.0.1:' + application.address().port + '/callbacks';
const { url: baseUrl, apiKey, apiSecret } = service;
const client = new PaymentClient({ baseUrl, apiKey, apiSecret, logger });
const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
const { payment } = await client.payments.create(order);
service.faults.add({ on: 'request', type: 'client-error' });
await client.payments.create(order).catch(() => undefined);
await service.setStatus(payment.referenceNumber, 'paid');
service.faults.add({ on: 'callback', type: 'wrong-secret' });
await service.setStatus(payment.referenceNumber, 'settled');
await client.close();
application.close();
await service.close();
`,
  );
  await bundle({ entry }, folder);
});

async function run(NODE_DEBUG: string | undefined, ...args: string[]) {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [path.join(folder, 'entry.js'), ...args],
    { env: { ...process.env, NODE_DEBUG } },
  );
  const debugged = stderr.split('\n').filter((line) => line.startsWith('MERCHANT-PAYMENTS'));
  return { stdout, stderr, debugged };
}

it.each([
  ['merchant-payments', []],
  ['net-of-no-one,MERCHANT-PAYMENTS', []],
  ['merchant-*', []],
  ['merchant-payments', ['logger']],
])('NODE_DEBUG=%s prints each call and callback, redacted: %j', async (variable, args) => {
  const { debugged, stderr, stdout } = await run(variable, ...args);
  expect(
    debugged.map((line) => line.replace(/^\S+ \d+: merchant-payments: (.*?) \{.*\}$/, '$1')),
  ).toEqual(['request succeeded', 'request failed', 'callback processed', 'callback rejected']);
  const [, fields = ''] = /(\{.*\})$/.exec(debugged[0] ?? '') ?? [];
  expect(JSON.parse(fields)).toMatchObject({ method: 'POST', path: '/api/payments', status: 201 });
  expect(stderr + stdout).not.toContain('planted');
});

it.each([undefined, '', 'http-of-no-one', 'merchant'])(
  'NODE_DEBUG=%s prints nothing',
  async (variable) => {
    expect((await run(variable)).stderr).toBe('');
  },
);
