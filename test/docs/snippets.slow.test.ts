import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bundle } from '../bundle.js';
import { DOCUMENTED_URL } from './snippets/documented-url.js';

// Run by test/package and test/examples.
const runElsewhere = ['examples/docker', 'examples/playwright'].flatMap((folder) =>
  readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
);

const codeOf = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, code = '']) => code)
    .filter((code) => !runElsewhere.includes(code));

const guide = readFileSync('docs/test-your-integration.md', 'utf8');

/** What the guide tells users of a test runner to write before they fake timers. */
const settingsFor = (runner: string): string[] => {
  const [, cell = ''] = new RegExp(`^\\| ${runner} \\| (.*) \\|$`, 'm').exec(guide) ?? [];
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
};

test('every sample of the README, the open points and the testing guide runs as it stands', async () => {
  mkdirSync('test-artifacts', { recursive: true });
  const folder = path.resolve(mkdtempSync('test-artifacts/snippets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pages = {
    README: 'README.md',
    'open-points': 'docs/open-points.md',
    'test-your-integration': 'docs/test-your-integration.md',
  };
  const samples = Object.entries(pages).flatMap(([name, page]) =>
    codeOf(page).map((code, index) => ({ name: `${name}-${index + 1}`, code })),
  );
  expect(samples.map(({ name }) => name)).toHaveLength(2 + 2 + 11);
  for (const { name, code } of samples) {
    const text = code
      .replaceAll(/^const (?=pool|inbox|outbox)/gm, 'export const ')
      // The handler listens on a free port, which is known later.
      .replaceAll(`'${DOCUMENTED_URL}'`, 'globalThis.endpointUrl');
    writeFileSync(path.join(folder, `${name}.ts`), text);
  }
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
  const paths = Object.entries<string[]>({
    ...compilerOptions.paths,
    pg: ['./test/docs/snippets/pg.ts'],
  }).map(([name, files]) => [name, files.map((file) => path.resolve(file))]);
  const config = path.join(folder, 'tsconfig.json');
  const options = { ...compilerOptions, paths: Object.fromEntries(paths) };
  writeFileSync(config, JSON.stringify({ compilerOptions: options }));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const sources = samples.map(({ name }) => [name, path.join(folder, `${name}.ts`)]);
  const programs = { run: 'test/docs/snippets/run.ts', ...Object.fromEntries(sources) };
  await bundle(programs, folder, config);

  const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, 'run.js')], {
    env: {
      PATH: process.env['PATH'],
      MERCHANT_PAYMENTS_SIGNING_SECRET: 'whsec_of_the_snippets',
    },
  });
  expect(stdout).toMatch(/# pass 3\n# fail 0/);
}, 300_000);

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

// Run by test/client/fake-timers.slow.test.ts and by test/consumers/nest-jest.
test('the settings for node:test and Jest are those that are run elsewhere', () => {
  const flat = (text: string) => text.replaceAll(/\s|,(?=\s*[\])}])/g, '');
  const settings = [...settingsFor('vitest'), ...settingsFor('Jest'), ...settingsFor('node:test')];
  expect(settings).toHaveLength(5);
  const jest = flat(readFileSync('test/consumers/nest-jest/fake-timers.e2e-spec.ts', 'utf8'));
  for (const setting of settingsFor('Jest')) expect(jest).toContain(flat(setting));
  const nodeTest = flat(readFileSync('test/client/fake-timers.slow.test.ts', 'utf8'));
  for (const setting of settingsFor('node:test')) {
    expect(nodeTest).toContain(flat(/\[.*\]/.exec(setting)?.[0] ?? ''));
  }
});
