import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeInBrowser, openedBrowser } from '../browser/browser.js';

const SITE = path.resolve('site');
const PHONE = { viewport: { width: 360, height: 800 } };

/** A page of the site, opened as a file: without a server. */
async function open(file: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openedBrowser().newPage(options);
  page.setDefaultTimeout(10_000);
  await page.goto(pathToFileURL(path.join(SITE, file)).href);
  return page;
}

/** In a page: the words of code that are in two lines, as the boxes of their characters are. */
const BROKEN_WORDS = `
  const broken = [];
  const range = document.createRange();
  for (const code of document.querySelectorAll('.col-content code, .tsd-signature')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode } = texts;
      for (const { 0: word, index } of currentNode.data.matchAll(/\\w+/g)) {
        range.setStart(currentNode, index);
        range.setEnd(currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(word);
      }
    }
  }
  broken;
`;

/** The landing page, all guides and, of the symbols, the widest of each kind. */
function pagesToLookAt(): string[] {
  return [
    'index.html',
    ...readdirSync(path.join(SITE, 'documents')).map((file) => `documents/${file}`),
    'modules/merchant-payments_callback.html',
    'interfaces/merchant-payments_msw.PaymentServiceHandlersOptions.html',
    'classes/merchant-payments.InvalidCredentialsError.html',
    'types/merchant-payments.StandardSchemaResult.html',
  ];
}

const EMPTY_NAVIGATION = "document.querySelector('#tsd-nav-container').replaceChildren()";

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong on a page as it is shown. */
async function findViolations(page: Page, options: object): Promise<unknown[]> {
  return page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)]))`,
  );
}

/** The rules whose answer depends on colours and on the width. */
const OF_THE_LOOK = [
  'color-contrast',
  'link-in-text-block',
  'scrollable-region-focusable',
  'target-size',
];

interface Look {
  /** The words of code that are in two lines on a telephone. */
  readonly broken: readonly string[];
  /** The pages that are wider than a telephone. */
  readonly wide: readonly string[];
  /** What was asked for beyond the site. */
  readonly outside: readonly string[];
  /** What axe finds wrong, of each page. */
  readonly dark: readonly unknown[];
  readonly light: readonly unknown[];
}

/** Opens each page once, on a telephone in the dark, and makes it as wide as a screen and light then. */
async function openAll(): Promise<Look> {
  const pages = pagesToLookAt();
  expect(pages.length).toBeGreaterThan(13);
  const page = await open('index.html', { ...PHONE, reducedMotion: 'reduce' });
  const [broken, wide, outside]: [string[], string[], string[]] = [[], [], []];
  const [dark, light]: [unknown[], unknown[]] = [[], []];
  page.on('request', (request) => {
    const url = request.url();
    if (!['data:', pathToFileURL(SITE).href].some((begin) => url.startsWith(begin))) {
      outside.push(url);
    }
  });
  for (const file of pages) {
    await page.setViewportSize(PHONE.viewport);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(pathToFileURL(path.join(SITE, file)).href, { waitUntil: 'load' });
    await page
      .locator('.tsd-navigation')
      .getByText('Imports', { exact: true })
      .waitFor({ state: 'attached' });
    const words = (await page.evaluate(BROKEN_WORDS)) as string[];
    broken.push(...words.map((word) => `${file}: ${word}`));
    if ((await page.evaluate(OVERFLOW)) !== 0) wide.push(file);

    await page.evaluate(AXE);
    const isFirst = file === 'index.html';
    // The navigation, two thirds of most pages, is the same on each. To exclude it takes four times as long.
    if (!isFirst) await page.evaluate(EMPTY_NAVIGATION);
    const inDark = await findViolations(page, isFirst ? {} : { runOnly: OF_THE_LOOK });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    const inLight = await findViolations(page, {});
    if (inDark.length > 0) dark.push([file, ...inDark]);
    if (inLight.length > 0) light.push([file, ...inLight]);
  }
  return { broken, wide, outside, dark, light };
}

/** Searches from the keyboard, as the site offers it. */
async function search(page: Page, words: string, result: string): Promise<void> {
  // The key is the script's, which comes after the text.
  await page.waitForLoadState();
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill(words);
  await page.getByRole('option').filter({ hasText: result }).first().click();
}

describeInBrowser('the documentation site, opened from a folder', () => {
  beforeAll(() => {
    if (!existsSync(SITE)) throw new Error('there is no site/ to look at; run: npm run docs');
  });

  test('its search finds a guide by a word in its text', async () => {
    const page = await open('index.html');
    await search(page, 'SvelteKit', 'Frameworks');
    await page.getByRole('heading', { name: 'Frameworks', level: 1 }).waitFor();
    expect(await page.innerText('body')).toContain('Next.js app routes, SvelteKit');
  });

  test('its search finds a symbol by its name, and one by a word in its description', async () => {
    const page = await open('documents/Errors.html');
    await search(page, 'createCallbackVer', 'merchant-payments.createCallbackVerifier');
    await page.getByRole('heading', { name: 'Function createCallbackVerifier' }).waitFor();
    await search(page, 'load balancers', 'merchant-payments/lambda');
    await page.getByRole('heading', { name: 'Module merchant-payments/lambda' }).waitFor();
  });

  test.each([
    ['webhook', /Handle callbacks/],
    ['test mode', /Test your integration|Develop against the mock|Create payments/],
    ['rotate secret', /Handle callbacks/],
    ['duplicate', /Choose a store|Handle callbacks|How a store works/],
    ['retry', /Create payments|Handle callbacks/],
    ['signature refused', /Check your endpoint/],
    ['exactly once', /Choose a store|Postgres/],
    ['docker', /In containers and browsers/],
    ['fake timers', /Test your integration/],
  ])('its search for "%s" finds guides first', async (words, guide) => {
    const page = await open('index.html');
    await page.waitForLoadState();
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill(words);
    const results = page.getByRole('option');
    await results.first().waitFor();
    expect(await results.first().innerText()).toMatch(guide);
    const first = await results.evaluateAll((options) =>
      options.slice(0, 3).map((option) => option.querySelector('a')?.getAttribute('href')),
    );
    // Where few guides have the words, symbols follow.
    for (const href of first.slice(0, ['docker', 'fake timers'].includes(words) ? 1 : 3)) {
      expect(href).toMatch(/documents\//);
    }
  });

  test('its navigation has the guides in groups, in the order of use, then the imports', async () => {
    const page = await open('index.html');
    await page.locator('.tsd-navigation').getByText('Imports', { exact: true }).waitFor();
    const groups = page.locator('#tsd-nav-container > li > details > summary');
    expect((await groups.allInnerTexts()).map((text) => text.trim())).toEqual([
      'Start',
      'Create and handle',
      'Stores',
      'Test',
      'Go live',
      'Look up',
      'Project',
      'Imports',
    ]);
    const names = await page
      .locator('#tsd-nav-container > li:nth-child(2) li')
      .evaluateAll((items) => items.map(({ textContent }) => textContent));
    expect(names).toEqual([
      'Create payments',
      'Handle callbacks',
      'Frameworks',
      'Slow work in a queue',
      'Callbacks from a queue',
    ]);
    const imports = await page
      .locator('#tsd-nav-container > li:last-child > details > div > ul > li > details > summary')
      .evaluateAll((items) => items.map(({ textContent }) => textContent));
    expect(imports.slice(0, 2)).toEqual(['merchant-payments', 'merchant-payments/callback']);
  });

  test('its first page shows a picture and the code, in this order', async () => {
    const page = await open('index.html');
    const text = page.locator('.tsd-typography').first();
    const order = await text
      .locator(':scope > p > img, :scope > pre:has(.hl-0)')
      .evaluateAll((found) => found.slice(0, 2).map(({ tagName }) => tagName));
    expect(order).toEqual(['IMG', 'PRE']);
    const picture = text.locator('img').first();
    expect(await picture.getAttribute('alt')).toContain('from checkout to paid');
    await page.evaluate("document.querySelector('.tsd-typography img').decode()");
  });

  test('a guide leads to the guides before and after it', async () => {
    const page = await open('documents/Handle_callbacks.html');
    await page.getByRole('link', { name: 'Previous: Create payments' }).waitFor();
    await page.getByRole('link', { name: 'Next: Frameworks' }).click();
    await page.getByRole('heading', { name: 'Frameworks', level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'Edit this page' }).count()).toBe(0);
  });

  test('each page describes itself to search engines', () => {
    const of = (file: string) =>
      /<meta name="description" content="([^"]*)"/.exec(
        readFileSync(path.join(SITE, file), 'utf8'),
      )?.[1] ?? '';
    const guides = readdirSync(path.join(SITE, 'documents')).map((file) => `documents/${file}`);
    const descriptions = [
      'index.html',
      ...guides,
      'functions/merchant-payments.verifyCallback.html',
    ].map(of);
    expect(new Set(descriptions).size).toBe(descriptions.length);
    for (const text of descriptions) expect(text.length).toBeLessThanOrEqual(161);
    expect(of('documents/Errors.html')).toBe(
      'every error code, its class, when it occurs and what to do',
    );
    for (const text of descriptions) expect(text).not.toMatch(/^Documentation for/);
  });

  test('the pictures are dark on a dark page, whatever the system has', async () => {
    const page = await open('documents/How_a_store_works.html', { colorScheme: 'light' });
    const picture = page.locator('img[src$="store.svg"]');
    const take = () => picture.screenshot({ animations: 'disabled' });
    await page.evaluate("localStorage.setItem('tsd-theme', 'light')");
    await page.reload();
    const light = await take();
    await page.evaluate("localStorage.setItem('tsd-theme', 'dark')");
    await page.reload();
    expect(light.equals(await take())).toBe(false);
    const system = await open('documents/How_a_store_works.html', {
      colorScheme: 'dark',
    });
    const dark = await system.locator('img[src$="store.svg"]').screenshot();
    expect(dark.equals(await take())).toBe(true);
  });

  test('code is copied by touch', async () => {
    const page = await open('documents/Handle_callbacks.html', {
      ...PHONE,
      hasTouch: true,
      isMobile: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.waitForLoadState();
    const block = page.locator('pre').first();
    const button = block.getByRole('button');
    await button.scrollIntoViewIfNeeded();
    expect(
      await page.evaluate("getComputedStyle(document.querySelector('pre > button')).opacity"),
    ).toBe('1');
    const [buttonBox, codeBox] = [
      await button.boundingBox(),
      await block.locator('code').boundingBox(),
    ];
    if (buttonBox === null || codeBox === null) throw new Error('not shown');
    expect(buttonBox.y + buttonBox.height).toBeLessThanOrEqual(codeBox.y);
    await button.tap();
    await page.getByRole('button', { name: 'Copied' }).first().waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toMatch(/^import \{ createServer \} from 'node:http';\n/);
  });

  describe('each page', () => {
    let look: Look;
    // Once for all: to open the pages takes longer than to look at them. A second for each of some thirty, and
    // more where other suites run.
    beforeAll(async () => {
      look = await openAll();
    }, 240_000);

    test('has no code that breaks inside a word on a telephone', () => {
      expect(look.broken).toEqual([]);
    });

    test('makes no request to another place', () => {
      expect(look.outside).toEqual([]);
    });

    test('does not scroll sideways on a telephone', () => {
      expect(look.wide).toEqual([]);
    });

    test.each(['dark', 'light'] as const)('has nothing that axe finds wrong: %s', (scheme) => {
      expect(look[scheme]).toEqual([]);
    });
  });
});
