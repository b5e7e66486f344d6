import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandLoaders } from '../../src/cli/registry.js';
import { signCallback } from '../../src/testing/index.js';
import { serve } from '../cli/merchant-server.js';
import { runCommand, startMock } from '../cli/run-command.js';
import { apiKey, apiSecret, signingText } from './planted.js';
import { leaksIn } from './watch.js';

// What is planted here: the merchant's credentials in the environment.
const env = {
  MERCHANT_PAYMENTS_API_KEY: apiKey,
  MERCHANT_PAYMENTS_API_SECRET: apiSecret,
  MERCHANT_PAYMENTS_SIGNING_SECRET: signingText,
};
const commands = [...commandLoaders.keys()];
const visited = new Set<string>();

async function look(
  line: readonly string[],
  more: Record<string, string> = {},
  input = '',
): Promise<string> {
  const name = commands.find((one) => line.join(' ').startsWith(one));
  if (name !== undefined && line.length > name.split(' ').length) visited.add(name);
  const { stdout, stderr } = await runCommand(line, { ...env, ...more }, input);
  expect(leaksIn(stdout), line.join(' ')).toEqual([]);
  expect(leaksIn(stderr), line.join(' ')).toEqual([]);
  return stdout + stderr;
}

/** Two at a time: a process takes a core while it starts. */
async function lookAtAll(lines: readonly (readonly string[])[], more: Record<string, string> = {}) {
  const left = [...lines];
  const worker = async () => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) await look(line, more);
  };
  await Promise.all([worker(), worker()]);
}

test('no help shows what is in the environment', async () => {
  const names = [...commands.map((name) => name.split(' ')), ['payments'], ['callback'], []];
  await lookAtAll([...names.map((words) => [...words, '--help']), ['--version'], []]);
});

test('no mistake on the command line is answered with the secret that it holds', async () => {
  await lookAtAll([
    ['--api-secret', apiSecret, 'mock'],
    [`--signing-secret=${signingText}`],
    ['mock', '--api-key', `${apiKey}:${apiSecret}`],
    ['mock', '--signing-secret', ` ${signingText}`],
    ['mock', '--seed', apiSecret],
    ['mock', apiSecret],
    ['callback', 'verify', '--http-file', '/dev/null', '--tolerance', signingText],
    ['callback', 'send', `http://user:${encodeURIComponent(signingText)}@127.0.0.1:9/`],
    ['check', signingText],
    ['payments', 'create', '--reference', 'a', '--amount', apiSecret, '--currency', 'EUR'],
    ['payments', 'list', '--mock-url', `http://user:${encodeURIComponent(apiSecret)}@127.0.0.1/`],
    ['fault', 'add', '--fault-json', apiSecret],
    ['clock', 'advance', apiSecret],
  ]);
});

const creation = 'payments create --reference order-1 --amount 5 --currency EUR'.split(' ');

test('what works, as text and as JSON, shows no secret either', async () => {
  await using endpoint = await serve((request, response) => void request.pipe(response));
  // Its announcement has its own credentials, since calling it requires them.
  await using mock = await startMock('--json', '--callback-url', endpoint.url);
  const at = { MERCHANT_PAYMENTS_MOCK_URL: mock.url };
  const inBoth = (...line: string[]) => [line, [...line, '--json']];
  await look(creation, at);
  await look([...creation, '--json'], at);
  await lookAtAll(
    [
      ...inBoth('payments', 'list'),
      ...inBoth('payments', 'set-status', 'order-1', 'paid'),
      ...inBoth('fault', 'add', 'callback', 'wrong-secret'),
      ...inBoth('fault', 'list'),
      ...inBoth('deliveries', 'list'),
      ...inBoth('deliveries', 'resend', 'order-1'),
      ...inBoth('clock', 'advance', '1s'),
      ...inBoth('fault', 'clear'),
      ...inBoth('callback', 'send', endpoint.url),
      ...inBoth('callback', 'send', endpoint.url, '--fault', 'wrong-secret'),
      ...inBoth('check', `${endpoint.url}?token=x`),
      ['payments', 'list', '--mock-url', 'http://127.0.0.1:9'],
    ],
    at,
  );
  const { headers, rawBody } = signCallback({ payment: {}, signingSecret: signingText });
  const signed = JSON.stringify({ headers, rawBody: Buffer.from(rawBody).toString() });
  expect(await look(['callback', 'verify'], {}, signed)).toMatch(/^verified: /);
  const quoted = ['--json', '--signing-secret', `"${signingText}"`];
  expect(await look(['callback', 'verify', ...quoted], {}, signed)).toContain('secret-quoted');
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'secrets-')), 'check.xml');
  onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));
  await look(['check', endpoint.url, '--junit', file]);
  const junit = readFileSync(file, 'utf8');
  expect(junit).toContain('<testcase');
  expect(leaksIn(junit)).toEqual([]);
  expect([...visited].sort()).toEqual([...commands].sort());

  mock.kill('SIGTERM');
  const { stdout, stderr } = await mock.ended;
  expect(stdout.split('\n').length).toBeGreaterThan(10);
  expect(leaksIn(stdout + stderr)).toEqual([]);
});
