import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, assert, expect, test } from 'vitest';
import { readBlocks } from '../docs/snippets/blocks.js';
import { findFreePort } from '../services/throwaway-server.js';

// Follows docs/start.md in an empty folder, with the tarball and what the guide installs.

const folder = mkdtempSync(path.join(tmpdir(), 'start-'));
const started: ChildProcess[] = [];

afterAll(async () => {
  for (const child of started) {
    assert(child.pid);
    process.kill(-child.pid, 'SIGKILL');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true });
});

/** Starts a program in a group of its own, because npx ends without what it has started. */
function start(script: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn('bash', ['-c', script], { cwd: folder, env, detached: true });
  started.push(child);
  return child;
}

async function waitUntilItAnswers(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('the first guide ends with one payment, which its app has acknowledged', async () => {
  const [port, mockPort] = [String(await findFreePort()), String(await findFreePort())];
  const mockUrl = `http://127.0.0.1:${mockPort}`;
  const env = { ...process.env, MERCHANT_PAYMENTS_MOCK_URL: mockUrl };
  const blocks = readBlocks('docs/start.md').map(({ code, ...block }) => ({
    ...block,
    code: code.replaceAll('3000', port).replaceAll('4242', mockPort),
  }));
  const [install = '', mock = '', run = '', clicks = '', ...others] = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
  expect(others).toEqual([]);
  const shell = (script: string) =>
    promisify(execFile)('bash', ['-ec', script], { cwd: folder, env });
  const tarball = process.env['PACKED_TARBALL'] ?? '';
  await shell(install.replace(/(?<=npm install )merchant-payments/, tarball));
  for (const { name, code } of blocks) {
    if (name !== undefined) writeFileSync(path.join(folder, name), code);
  }

  const service = start(`${mock.trim()} --port ${mockPort}`, env);
  assert(service.stdout);
  await once(createInterface({ input: service.stdout }), 'line');
  start(run, env);
  await waitUntilItAnswers(`http://127.0.0.1:${port}/`);

  const { stdout } = await shell(clicks);
  expect(stdout.match(/\{"state":"created"\}/g)).toHaveLength(2);
  expect(await (await fetch(`${mockUrl}/_mock/state`)).json()).toMatchObject({
    payments: [{ merchantPaymentReference: 'order-1', status: 'paid' }],
    deliveries: [{ attempts: [{ outcome: 'acknowledged' }] }],
  });
});
