import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, assert, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from '../services/throwaway-server.js';

// Runs the workflow of docs/check-your-endpoint.md step by step, in a project that installs the tarball.

interface Workflow {
  jobs: { check: { env: Record<string, string>; steps: { run?: string }[] } };
}

const guide = readFileSync('docs/check-your-endpoint.md', 'utf8');
const [, yaml = ''] = /## In CI\n.*?^```yaml\n(.*?)^```$/ms.exec(guide) ?? [];
const { env: variables, steps } = (parse(yaml) as Workflow).jobs.check;

// A shop as the guides build them: it refuses orders that it does not know, and ships each once.
const SHOP = `
import { createServer } from 'node:http';
import { PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';

PaymentClient.fromEnv();
const orders = new Map(Array.from({ length: 99 }, (_, index) => ['test-' + (index + 1), 0]));
const handleCallback = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET,
  onPayment({ payment: { merchantPaymentReference: reference, status } }) {
    if (!orders.has(reference)) throw new RetryLaterError('order not stored');
    if (status === 'paid') orders.set(reference, 1);
  },
});
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  if (pathname === '/callbacks/payments') return handleCallback(request, response);
  const effects = orders.get(searchParams.get('merchantPaymentReference')) ?? 0;
  return response.end(JSON.stringify({ effects }));
}).listen(process.env.PORT, '127.0.0.1');
`;

const folder = mkdtempSync(path.join(tmpdir(), 'ci-sample-'));
const background: ChildProcess[] = [];
afterAll(async () => {
  for (const child of background) {
    const exit = once(child, 'exit');
    assert(child.pid);
    process.kill(-child.pid, 'SIGTERM');
    await exit;
  }
  rmSync(folder, { recursive: true });
});

test('the workflow for CI passes, and writes its report', async () => {
  const run = promisify(execFile);
  const manifest = { private: true, type: 'module', scripts: { start: 'node shop.js' } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'shop.js'), SHOP);
  const tarball = process.env['PACKED_TARBALL'] ?? '';
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder });

  const port = String(await findFreePort());
  const env = { ...process.env, ...variables, PORT: port };
  for (const { run: step } of steps) {
    if (step === undefined) continue;
    const script = step.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`);
    const [, command] = /^(.*) &$/.exec(script) ?? [];
    if (command !== undefined) {
      background.push(
        spawn('bash', ['-c', command], { cwd: folder, env, detached: true, stdio: 'ignore' }),
      );
      continue;
    }
    await run('bash', ['-ec', script], { cwd: folder, env }).catch(({ stdout, stderr }) =>
      expect.fail(`${script} failed:\n${stdout}\n${stderr}`),
    );
  }
  expect(background).toHaveLength(1);
  const report = readFileSync(path.join(folder, 'callback-endpoint.xml'), 'utf8');
  expect(report).toMatch(/<testsuites? [^>]*failures="0"/);
  expect(report).toContain('name="overtaking-effect:');
});
