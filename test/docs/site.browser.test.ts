import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../browser/chromium.js';

const SITE = path.resolve('site');
const PHONE = { viewport: { width: 360, height: 800 } };

const executablePath = findChromium();

let browser: Browser;

/** A page of the site, opened as a file: without a server. */
async function open(file: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(10_000);
  await page.goto(pathToFileURL(path.join(SITE, file)).href);
  return page;
}

/** Searches from the keyboard, as the site offers it. */
async function search(page: Page, words: string, result: string): Promise<void> {
  // The key is the script's, which comes after the text.
  await page.waitForLoadState();
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill(words);
  await page.getByRole('option').filter({ hasText: result }).first().click();
}

describe.skipIf(executablePath === undefined)(
  'the documentation site, opened from a folder',
  () => {
    beforeAll(async () => {
      if (!existsSync(SITE)) throw new Error('there is no site/ to look at; run: npm run docs');
      // Chromium refuses its sandbox to root, who runs containers.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      browser = await chromium.launch({ executablePath: executablePath ?? '', args });
    });
    afterAll(() => browser?.close());

    test('its search finds a guide by a word in its text', async () => {
      const page = await open('index.html');
      await search(page, 'SvelteKit', 'Handle callbacks');
      await page.getByRole('heading', { name: 'Handle callbacks', level: 1 }).waitFor();
      expect(await page.innerText('body')).toContain('Next.js app routes, SvelteKit');
    });

    test('its search finds a symbol by its name, and one by a word in its description', async () => {
      const page = await open('documents/Errors.html');
      await search(page, 'createCallbackVer', 'merchant-payments.createCallbackVerifier');
      await page.getByRole('heading', { name: 'Function createCallbackVerifier' }).waitFor();
      await search(page, 'load balancers', 'merchant-payments/lambda');
      await page.getByRole('heading', { name: 'Module merchant-payments/lambda' }).waitFor();
    });

    test('its navigation has the guides first, in the order of use, then the imports', async () => {
      const page = await open('index.html');
      await page.locator('.tsd-navigation').getByText('Handle callbacks').first().waitFor();
      const names = await page.locator('.tsd-navigation > ul > li').allInnerTexts();
      expect(names.slice(0, 3).map((name) => name.trim())).toEqual([
        'An order from checkout to paid',
        'Create payments',
        'Create payments through an outbox',
      ]);
      const modules = names.map((name) => name.trim()).filter((name) => /^merchant-/.test(name));
      expect(modules.slice(0, 3)).toEqual([
        'merchant-payments',
        'merchant-payments/callback',
        'merchant-payments/callback/web',
      ]);
    });

    test('no page scrolls sideways on a telephone', async () => {
      const guides = readdirSync(path.join(SITE, 'documents')).map((file) => `documents/${file}`);
      expect(guides.length).toBeGreaterThan(8);
      // With the widest of each kind, as they were without a style of the site's own.
      const pages = [
        'index.html',
        ...guides,
        'modules/merchant-payments_callback.html',
        'interfaces/merchant-payments_msw.PaymentServiceHandlersOptions.html',
        'classes/merchant-payments.InvalidCredentialsError.html',
        'types/merchant-payments.StandardSchemaResult.html',
      ];
      const page = await open('index.html', PHONE);
      const wide: string[] = [];
      for (const file of pages) {
        await page.goto(pathToFileURL(path.join(SITE, file)).href);
        const overflow =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        if ((await page.evaluate(overflow)) !== 0) wide.push(file);
      }
      expect(wide).toEqual([]);
    });
  },
);
