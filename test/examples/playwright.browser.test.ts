import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../browser/chromium.js';
import { findFreePort } from '../services/throwaway-server.js';
import { bundled } from './example-process.js';
import { createShopSchema } from './shop-schema.js';

const executablePath = findChromium();
const isRunnable = executablePath !== undefined && Boolean(process.env['DATABASE_URL']);

// The example's tests by Playwright's own runner, at the shop of examples/.
test.skipIf(!isRunnable)('the example for Playwright passes', async () => {
  await using schema = await createShopSchema();
  mkdirSync('test-artifacts', { recursive: true });
  // Within the project, where it finds the package itself.
  const folder = path.resolve(mkdtempSync('test-artifacts/playwright-'));
  symlinkSync(path.resolve('test/node_modules'), path.join(folder, 'node_modules'), 'junction');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [shopPort, servicePort] = [await findFreePort(), await findFreePort()];
  for (const file of readdirSync('examples/playwright')) {
    const text = readFileSync(`examples/playwright/${file}`, 'utf8')
      .replaceAll('3000', String(shopPort))
      .replaceAll('4242', String(servicePort))
      .replace('npm start', `${process.execPath} ${bundled('shop/with-staff.ts')}`);
    writeFileSync(path.join(folder, file), text);
  }
  const browser = { executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] };
  writeFileSync(
    path.join(folder, 'here.config.ts'),
    `import config from './playwright.config.js';
     export default { ...config, outputDir: 'results', use: { ...config.use, launchOptions: ${JSON.stringify(browser)} } };`,
  );
  const command = ['test/node_modules/@playwright/test/cli.js', 'test', '--reporter=line'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...command, '--config', path.join(folder, 'here.config.ts')],
    {
      env: {
        ...process.env,
        DATABASE_URL: schema.url,
        STAFF_TOKEN: 'the token of the tests',
        PORT: String(shopPort),
      },
    },
  );
  expect(stdout).toContain('2 passed');
});
