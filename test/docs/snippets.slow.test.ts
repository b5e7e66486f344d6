import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bundle } from '../bundle.js';
import { findFreePort } from '../services/throwaway-server.js';
import { readBlocks } from './snippets/blocks.js';

// Run by test/package and test/examples.
const runElsewhere = ['examples/docker', 'examples/playwright'].flatMap((folder) =>
  readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
);

/** The programs of a page, by their names or numbers. */
const programsOf = (page: string) =>
  readBlocks(page)
    .filter(({ language, code }) => /^[jt]s$/.test(language) && !runElsewhere.includes(code))
    .map(({ name, code }, index) => ({
      name: name ?? `${path.basename(page, '.md')}-${index + 1}.ts`,
      code,
    }));

/** Bundles programs on the sources into a folder of their own, where a free port is in place of 3000. */
async function bundlePrograms(
  programs: readonly { name: string; code: string }[],
  others: Record<string, string> = {},
) {
  mkdirSync('test-artifacts', { recursive: true });
  const folder = path.resolve(mkdtempSync('test-artifacts/snippets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = String(await findFreePort());
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const { name, code } of programs) {
    writeFileSync(path.join(folder, name), code.replaceAll('3000', port));
  }
  const sources = programs.map(({ name }) => [name.replace(/\.\w+$/, ''), path.join(folder, name)]);
  await bundle({ ...others, ...Object.fromEntries(sources) }, folder);
  return async (program: string, env: Record<string, string> = {}) => {
    const file = path.join(folder, `${program}.js`);
    const options = { cwd: folder, env: { PATH: process.env['PATH'], ...env } };
    return (await promisify(execFile)(process.execPath, [file], options)).stdout;
  };
}

const readme = programsOf('README.md').map((program, index) =>
  index === 0 ? { ...program, name: 'try.mjs' } : program,
);

test('README: the first program prints that the order is paid, in at most 14 lines', async () => {
  expect(readme[0]?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(14);
  const run = await bundlePrograms(readme.slice(0, 1));
  expect(await run('try')).toBe('order-1 is paid\n');
});

test('README: the Express application passes the test that is shown for it', async () => {
  const run = await bundlePrograms(readme.slice(1));
  expect(await run('app.test')).toBe('');
});

test.each([
  [
    'does nothing in onPayment',
    (app: string) => app.replace(/onPayment\(.*?\n {2}\},\n/s, 'onPayment() {},\n'),
  ],
  [
    'has no callback URL',
    (_: string, shown: string) => shown.replace(/^mock\.callbackUrl.*\n/m, ''),
  ],
])('README: its test fails for an application that %s', async (_, breakIt) => {
  const [app, shown] = readme.slice(1);
  if (app === undefined || shown === undefined)
    expect.fail('README has no application and no test');
  const broken = breakIt(app.code, shown.code);
  const isApp = broken.includes('express');
  expect(broken).not.toBe(isApp ? app.code : shown.code);
  const run = await bundlePrograms(
    isApp ? [{ ...app, code: broken }, shown] : [app, { ...shown, code: broken }],
  );
  await expect(run('app.test')).rejects.toThrow(/shipped|callback/);
});

test('README: the Express application tries again after a decline, and finds the order', async () => {
  const [app, shown] = readme.slice(1);
  const [setUp = ''] = shown?.code.split(/^mock\.faults/m) ?? [];
  const code = `${setUp}
const click = () => fetch(app + '/orders/order-1/pay', { method: 'POST' });
await click();
await mock.setStatus('order-1', 'declined');
await Promise.all([click(), click()]);
assert.deepEqual(mock.payments.list().map((one) => one.merchantPaymentReference), ['order-1', 'order-1-2']);
await mock.pay('order-1-2');
await click();
assert.equal(mock.payments.list().length, 2);
for (const { outcome } of mock.deliveries) assert.equal(outcome, 'acknowledged');
for (const running of [server, mock]) running.close();
`;
  const run = await bundlePrograms(
    [app, { name: 'declined.ts', code }].filter((one) => one !== undefined),
  );
  expect(await run('declined')).toBe('');
});

test('README: the first screen is short, and so is the page', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n');
  expect(lines.length).toBeLessThanOrEqual(111);
});

test('every sample of the guides on testing runs as it stands', async () => {
  const pages = ['test-your-integration', 'check-your-endpoint'];
  const programs = pages.flatMap((page) => programsOf(`docs/${page}.md`));
  expect(programs).toHaveLength(6 + 3);
  const run = await bundlePrograms(programs, { run: 'test/docs/snippets/run.ts' });
  const env = { MERCHANT_PAYMENTS_SIGNING_SECRET: 'whsec_of_the_snippets' };
  expect(await run('run', env)).toMatch(/# pass 3\n# fail 0/);
}, 300_000);

const guide = readFileSync('docs/test-your-integration.md', 'utf8');

/** What the guide tells users of a test runner to write before they fake timers. */
const settingsFor = (runner: string): string[] => {
  const [, cell = ''] = new RegExp(`^\\| ${runner} \\| (.*) \\|$`, 'm').exec(guide) ?? [];
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
};

test.each(settingsFor('vitest'))('creates payments under fake timers by %s', async (setting) => {
  await using service = await startMockServer();
  const { url: baseUrl, apiKey, apiSecret } = service;
  await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  onTestFinished(() => void vi.useRealTimers());
  const isList = setting.startsWith('[');
  new Function('vi', isList ? `vi.useFakeTimers({ toFake: ${setting} })` : setting)(vi);
  for (const merchantPaymentReference of ['order-a', 'order-b', 'order-c']) {
    await client.payments.create({ merchantPaymentReference, amount: 100, currency: 'EUR' });
  }
  vi.useRealTimers();
  expect(service.payments.list()).toHaveLength(3);
});
