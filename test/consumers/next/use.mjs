// The built application, started: it creates a payment at the mock and takes its callback.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { startMockServer } from 'merchant-payments/mock-server';

// The bundle of the server has what the routes use, and nothing else of the package.
const bundled = readdirSync('.next/server', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js'))
  .map((file) => readFileSync(path.join('.next/server', file), 'utf8'))
  .join('\n');
assert.ok(bundled.includes('a SHA-256 digest in '), 'the verifier is not in the bundle');
for (const stranger of ['dashboard.html', 'Usage: merchant-payments', 'addContentTypeParser']) {
  assert.ok(!bundled.includes(stranger), `"${stranger}" is in the bundle of Next.js`);
}

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
await once(probe, 'close');

const app = `http://127.0.0.1:${port}`;
const service = await startMockServer({ callbackUrl: `${app}/callbacks/payments` });
const next = spawn(
  process.execPath,
  ['node_modules/next/dist/bin/next', 'start', '--port', String(port), '--hostname', '127.0.0.1'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      MERCHANT_PAYMENTS_BASE_URL: service.url,
      MERCHANT_PAYMENTS_API_KEY: service.apiKey,
      MERCHANT_PAYMENTS_API_SECRET: service.apiSecret,
      MERCHANT_PAYMENTS_SIGNING_SECRET: service.signingSecret,
    },
  },
);
try {
  // The listener stays: an unread or closed pipe would stop the server.
  await new Promise((resolve, reject) => {
    next.stdout.on('data', (chunk) => String(chunk).includes('Ready') && resolve());
    next.once('exit', (code) => reject(new Error(`next start ended with ${code}`)));
  });
  const response = await fetch(`${app}/pay`, { method: 'POST' });
  assert.equal(response.status, 200);
  const { referenceNumber } = await response.json();
  await service.setStatus(referenceNumber, 'paid');
  const { outcome } = await service.waitForDelivery({ referenceNumber, status: 'paid' });
  assert.equal(outcome, 'acknowledged');
  const forged = await fetch(`${app}/callbacks/payments`, { method: 'POST', body: '{}' });
  assert.equal(forged.status, 401);
} finally {
  next.kill();
  await service.close();
}
console.log(
  'next build and next start: a payment created, its callback taken, a forged one refused; no mock and no command line in the bundle',
);
