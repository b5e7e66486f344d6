import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express, { type Express, type RequestHandler } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callbackHandler } from '../../src/node/index.js';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { secretEnv, serve, signingSecret, startMerchant } from './merchant-server.js';
import { runCommand, startCommand } from './run-command.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'check-'));
});
afterAll(() => rm(folder, { recursive: true }));

const check = (...args: readonly string[]) => runCommand(['check', ...args], secretEnv);

/** An endpoint that takes everything, and tells of one effect whatever happened. */
const startCredulous = () =>
  serve((request, response) => void request.resume().on('end', () => response.end('1')));

interface Check {
  readonly id: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
}

function idsOf(report: { readonly checks: readonly Check[] }, wanted: Check['outcome']): string[] {
  return report.checks.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);
}

test('a correct endpoint passes every check, effects included', async () => {
  await using merchant = await startMerchant();
  const effectUrl = new URL('/effects', merchant.url).href;
  const { code, stdout, stderr } = await check(merchant.url, '--effect-url', effectUrl, '--json');
  const report = JSON.parse(stdout);
  expect({ code, failed: idsOf(report, 'failed'), skipped: idsOf(report, 'skipped') }).toEqual({
    code: 0,
    failed: [],
    skipped: ['overtaking'],
  });
  expect(report.url).toBe(merchant.url);
  expect(stderr).toBe('');
});

test('an endpoint that looks its orders up is not wrong to ask for a retry, with 503 and Retry-After', async () => {
  await using merchant = await startMerchant(0, new Set(['order-1']));
  const blind = await check(merchant.url, '--json', '--overtaking');
  const report = JSON.parse(blind.stdout);
  // Nothing was acknowledged, so that it says little.
  expect({ code: blind.code, failed: idsOf(report, 'failed') }).toEqual({ code: 1, failed: [] });
  expect((await check(merchant.url)).stdout).toMatch(
    /No callback was acknowledged[\s\S]*--reference <text>/,
  );
  // What it must refuse is judged all the same.
  expect(idsOf(report, 'passed')).toEqual(
    expect.arrayContaining(['wrong-secret', 'tampered-body', 'stale-timestamp', 'overtaking']),
  );
  expect(report.checks.find(({ id }: Check) => id === 'valid-accepted')).toMatchObject({
    outcome: 'skipped',
    detail: expect.stringMatching(/503 with Retry-After.* with --reference <text>$/),
  });
  expect((await check(merchant.url, '--fail-on-skipped')).code).toBe(1);
  // It must take its own orders.
  const seeing = await check(merchant.url, '--json', '--reference=order-1');
  expect(idsOf(JSON.parse(seeing.stdout), 'passed')).toContain('valid-accepted');
  expect((await check(merchant.url, '--reference=order-2')).code).toBe(1);
});

test('with --overtaking an endpoint that acknowledges the callback of no order fails', async () => {
  await using merchant = await startMerchant();
  const { code, stdout } = await check(merchant.url, '--overtaking');
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nFAIL {2}overtaking: Does not acknowledge/);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /the endpoint answered 200, so the service does not send it again fix .*RetryLaterError/,
  );
});

test('an endpoint that accepts everything fails, with the fix', async () => {
  await using endpoint = await startCredulous();
  const { code, stdout, stderr } = await check(endpoint.url);
  expect(code).toBe(1);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/\nFAIL {2}wrong-secret: /);
  expect(stdout).toMatch(/\nFAIL {2}wrong-secret: Refuses[^\n]*\n {2}seen {2}.*?\n {2}fix {3}/s);
  expect(stdout).toMatch(/\n {2}said {2}1\n/);
  expect(stdout).toMatch(/4 passed, 1 failed/);
});

test.each([
  ['a wrong path', (app: Express) => app, /answered 404.*Check the path of the URL/],
  [
    'express.json() before the handler',
    (app: Express, handler: RequestHandler) => app.use(express.json()).all('/callbacks', handler),
    /answered 500.*parser of JSON reads the body before your handler \(RAW_BODY_REQUIRED\).* paste app\.all/,
  ],
  [
    'a handler that always fails',
    (app: Express) =>
      app.all('/callbacks', (_request, response) => {
        response.sendStatus(500);
      }),
    /answered 500, and 500 to a signature.*its log says why/,
  ],
] as const)('%s costs at most ten requests, and is named', async (_what, mount, named) => {
  const app = express();
  let count = 0;
  app.use((_request, _response, next) => {
    count += 1;
    next();
  });
  mount(
    app,
    callbackHandler({ signingSecret, onPayment: () => undefined, onError: () => undefined }),
  );
  await using server = await serve(app);
  const { code, stdout } = await check(server.url);
  expect(code).toBe(1);
  expect(count).toBeLessThanOrEqual(10);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(named);
  expect(stdout.match(/^FAIL/gm)).toHaveLength(1);
});

test('JUnit XML goes to a file beside the report', async () => {
  await using endpoint = await startCredulous();
  const file = path.join(folder, 'check.xml');
  const { code, stdout } = await check(endpoint.url, '--junit', file, '--json');
  const { counts, checks } = JSON.parse(stdout);
  const document = await readFile(file, 'utf8');
  expect(code).toBe(1);
  expect(document.match(/<testcase /g)).toHaveLength(checks.length);
  expect(document.match(/<failure /g)).toHaveLength(counts.failed);
  expect(document.match(/<skipped /g)).toHaveLength(counts.skipped);
});

test('callbacks are made as the options say', async () => {
  await using endpoint = await startEndpoint(() => 401);
  await check(
    endpoint.url,
    '--reference=order-1',
    '--signature-encoding=base64',
    '--timestamp-unit=milliseconds',
  );
  const valid = endpoint.received.find(({ rawBody }) => rawBody.byteLength > 0);
  expect(JSON.parse(String(valid?.rawBody)).merchantPaymentReference).toBe('order-1');
  expect(valid?.headers['x-signature']).toMatch(/^[\w+/]{43}=$/);
  expect(valid?.headers['x-timestamp']).toMatch(/^\d{13}$/);
});

test.each([
  ['order-{n}', 'order-1', 'order-2'],
  ['order-{0999..}', 'order-0999', 'order-1000'],
])('the reference %s gives each payment its own order', async (pattern, first, second) => {
  const references = new Set<string>();
  await using shop = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      references.add(/"merchantPaymentReference":"([^"]*)"/.exec(text)?.[1] ?? '');
      response.end();
    });
  });
  await check(shop.url, `--reference=${pattern}`, '--json');
  expect(references).toContain(first);
  expect(references).toContain(second);
  expect(references).not.toContain(pattern);
});

test('the tolerance is the one given, and the large body has 8 MiB', async () => {
  // The second request is the first forgery: an endpoint that takes it is not asked for more.
  await using endpoint = await startEndpoint((count) => (count === 2 ? 401 : 200));
  await check(endpoint.url, '--tolerance=4000');
  const sizes = endpoint.received.map(({ rawBody }) => rawBody.byteLength);
  expect(Math.max(...sizes)).toBe(8 * 1024 * 1024);
  const now = Date.now() / 1000;
  const ages = endpoint.received.map(({ headers }) => now - Number(headers['x-timestamp'] ?? now));
  expect(ages.some((age) => age > 3_900 && age < 4_200)).toBe(true);
});

test('--fail-on-skipped fails a run in which something was not checked', async () => {
  await using merchant = await startMerchant();
  const effectUrl = new URL('/effects', merchant.url).href;
  const without = await check(merchant.url, '--fail-on-skipped');
  expect(without.code).toBe(1);
  expect(without.stdout).toMatch(/ 0 failed, 9 skipped/);
  const { code } = await check(merchant.url, '--fail-on-skipped', '--effect-url', effectUrl);
  expect(code).toBe(0);
});

const UNUSED_URL = 'http://127.0.0.1:1/';

test.each([
  [[], /<callback-url> is missing/],
  [[UNUSED_URL, 'extra'], /too many/],
  [[UNUSED_URL, '--reference= '], /merchantPaymentReference must be a string that is not blank/],
  [
    [UNUSED_URL, '--tolerance=1'],
    /toleranceSeconds must be a whole number of seconds from 2 to 86400/,
  ],
  [[UNUSED_URL, '--timeout=0'], /timeoutMs must be a whole number of milliseconds from 1/],
  [
    [UNUSED_URL, '--signature-encoding=auto'],
    /--signature-encoding must be one of hex, base64, base64url/,
  ],
  [
    [UNUSED_URL, '--junit=/nowhere/check.xml'],
    /--junit: writing \/nowhere\/check.xml failed with ENOENT/,
  ],
  [[UNUSED_URL, '--junit=/tmp'], /--junit: writing \/tmp failed with EISDIR/],
  [[UNUSED_URL, '--signing-secret= x'], /signingSecret must not begin or end with white space/],
])('refuses %j', async (args, message) => {
  const { code, stdout, stderr } = await check(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.split('\n')).toHaveLength(2);
});

test('says that the signing secret is missing', async () => {
  const { code, stderr } = await runCommand(['check', UNUSED_URL]);
  expect(code).toBe(2);
  expect(stderr).toContain('the signing secret is missing');
});

test('--wait begins when the endpoint listens', async () => {
  const port = await reserveClosedPort();
  const url = `http://127.0.0.1:${port}/callbacks`;
  await using command = startCommand(['check', url, '--wait', '60', '--json'], {
    env: secretEnv,
  });
  await command.printed(/\n/, 'stderr');
  expect(command.output.stderr).toBe(`waiting until something listens at 127.0.0.1:${port}\n`);
  await using _ = await startMerchant(port);
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ passed: true });
});

test('--wait ends in time when nothing listens', async () => {
  const port = await reserveClosedPort();
  const { code, stdout, stderr } = await check(`http://127.0.0.1:${port}/`, '--wait', '1');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`nothing listened at 127.0.0.1:${port} within 1 s`);
});
