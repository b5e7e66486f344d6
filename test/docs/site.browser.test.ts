import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeInBrowser } from '../browser/browser.js';
import { addressOf, findViolations, GUIDES, guides, open, pageOf, SITE } from './site.js';

const PHONE = { viewport: { width: 360, height: 800 } };

const rgb = (hex: string) => {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${parts.join(', ')})`;
};

/** In a page: the words of code and tables that are in two lines, as the boxes of their characters are. */
const BROKEN_WORDS = `
  const broken = [];
  const range = document.createRange();
  for (const code of document.querySelectorAll('.col-content :is(code, th, td), .tsd-signature')) {
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
    ...GUIDES.map(pageOf),
    'modules/merchant-payments_callback.html',
    'interfaces/merchant-payments_msw.PaymentServiceHandlersOptions.html',
    'classes/merchant-payments.InvalidCredentialsError.html',
    'types/merchant-payments.StandardSchemaResult.html',
  ];
}

/** The diagrams of the guides, and the page of each. */
const PICTURES = GUIDES.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/images\/([\w-]+\.svg)/g)].map(([, picture = '']) => ({
    page: pageOf(file),
    picture,
  })),
);

const EMPTY_NAVIGATION = "document.querySelector('#tsd-nav-container').replaceChildren()";

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** The rules whose answer depends on colours and on the width. */
const OF_THE_LOOK = [
  'color-contrast',
  'link-in-text-block',
  'scrollable-region-focusable',
  'target-size',
];

interface Look {
  /** The words of code and tables that are in two lines on a telephone. */
  readonly broken: readonly string[];
  /** The pages that are wider than a telephone. */
  readonly wide: readonly string[];
  /** The pages that have no or several titles. */
  readonly titles: readonly string[];
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
  const [broken, wide]: [string[], string[]] = [[], []];
  const [titles, outside]: [string[], string[]] = [[], []];
  const [dark, light]: [unknown[], unknown[]] = [[], []];
  page.on('request', (request) => {
    const url = request.url();
    if (!['data:', addressOf('')].some((begin) => url.startsWith(begin))) {
      outside.push(url);
    }
  });
  for (const file of pages) {
    await page.setViewportSize(PHONE.viewport);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(addressOf(file), { waitUntil: 'load' });
    await page
      .locator('.tsd-navigation')
      .getByText('Imports', { exact: true })
      .waitFor({ state: 'attached' });
    const words = (await page.evaluate(BROKEN_WORDS)) as string[];
    broken.push(...words.map((word) => `${file}: ${word}`));
    if ((await page.evaluate(OVERFLOW)) !== 0) wide.push(file);
    if ((await page.locator('h1').count()) !== 1) titles.push(file);

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
  return { broken, wide, titles, outside, dark, light };
}

describeInBrowser('the documentation site, opened from a folder', () => {
  test('its navigation has the guides in groups, in the order of use, then the imports', async () => {
    const page = await open('index.html');
    await page.locator('.tsd-navigation').getByText('Imports', { exact: true }).waitFor();
    const groups = page.locator('#tsd-nav-container > li > details > summary');
    const names = await groups.allInnerTexts();
    expect(names.map((text) => text.trim())).toEqual([...Object.keys(guides), 'Imports']);
    for (const [index, files] of Object.values(guides).entries()) {
      const links = page.locator(`#tsd-nav-container > li:nth-child(${index + 1}) li a`);
      const addresses = await links.evaluateAll((all) => all.map((link) => link.href));
      expect(addresses).toEqual(files.map((file) => addressOf(pageOf(file))));
    }
    const imports = await page
      .locator('#tsd-nav-container > li:last-child > details > div > ul > li > details > summary')
      .evaluateAll((items) => items.map(({ textContent }) => textContent));
    expect(imports.slice(0, 2)).toEqual(['merchant-payments', 'merchant-payments/callback']);
  });

  test('its first page has a promise, the sample of README, the dashboard, and four ways in', async () => {
    const page = await open('index.html');
    const text = page.locator('.tsd-typography');
    expect(await text.getByRole('heading', { level: 1 }).innerText()).toBe(
      'No payment twice, no paid order lost',
    );
    const [, sample = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync('README.md', 'utf8')) ?? [];
    expect(sample.trim().split('\n').length).toBeLessThanOrEqual(14);
    expect(await text.locator('pre > code').nth(1).innerText()).toBe(sample);
    await page.evaluate("document.querySelector('.tsd-typography img').decode()");
    expect(await text.locator('.site-ways a').count()).toBe(4);
  });

  test.each([
    ['light', '#cf222e', '#0a3069'],
    ['dark', '#ff7b72', '#a5d6ff'],
  ] as const)(
    'each line of a sample has the colours of a %s page, the first too',
    async (colorScheme, keyword, text) => {
      const page = await open('index.html', { colorScheme });
      const colours = await page.evaluate(`
      Object.fromEntries([...document.querySelectorAll('pre:nth-of-type(2) span')].map((span) =>
        [span.textContent.trim(), getComputedStyle(span).color]))`);
      expect(colours).toMatchObject({
        import: rgb(keyword),
        const: rgb(keyword),
        "'node:http'": rgb(text),
      });
    },
  );

  test('a guide leads to the guides before and after it', async () => {
    const [before, guide, after] = GUIDES.slice(2, 5).map(pageOf);
    const page = await open(guide ?? '');
    const link = (name: RegExp) => page.getByRole('link', { name });
    expect(await link(/^Previous: /).evaluate((each) => each.href)).toBe(addressOf(before ?? ''));
    await link(/^Next: /).click();
    await page.waitForURL(addressOf(after ?? ''));
    expect(await link(/^Edit this page$/).count()).toBe(0);
  });

  test('a guide is copied as Markdown', async () => {
    const file = GUIDES[0] ?? '';
    const page = await open(pageOf(file), {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const text = readFileSync(file, 'utf8');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text.trim());
  });

  test('each page describes itself to search engines', () => {
    const of = (file: string) => {
      const html = readFileSync(path.join(SITE, file), 'utf8');
      const [, text = ''] = /<meta name="description" content="([^"]*)"/.exec(html) ?? [];
      return text.replaceAll(/&\w+;/g, "'");
    };
    const descriptions = [
      'index.html',
      ...GUIDES.map(pageOf),
      'functions/merchant-payments.verifyCallback.html',
    ].map(of);
    expect(new Set(descriptions).size).toBe(descriptions.length);
    for (const text of descriptions) {
      expect(text.length).toBeLessThanOrEqual(161);
      expect(text).toMatch(/^(?!Documentation for)\w/);
    }
  });

  test('the pictures are dark on a dark page, whatever the system has', async () => {
    const file = PICTURES[0]?.page ?? '';
    const page = await open(file, { colorScheme: 'light' });
    const take = (on: Page) =>
      on.locator('img[src$=".svg"]').first().screenshot({ animations: 'disabled' });
    const choose = async (theme: string) => {
      await page.evaluate(`localStorage.setItem('tsd-theme', '${theme}')`);
      await page.reload();
    };
    await choose('light');
    const light = await take(page);
    await choose('dark');
    expect(light.equals(await take(page))).toBe(false);
    const dark = await take(await open(file, { colorScheme: 'dark' }));
    expect(dark.equals(await take(page))).toBe(true);
  });

  test('each diagram fits a telephone, and is not made smaller for it', async () => {
    expect(PICTURES.length).toBeGreaterThan(3);
    const page = await open('index.html', { viewport: { width: 400, height: 800 } });
    for (const { page: file, picture } of PICTURES) {
      await page.goto(addressOf(file));
      const [shown, natural, space] = await page
        .locator(`img[src$="${picture}"]`)
        .evaluate((image) => [image.width, image.naturalWidth, image.parentNode.clientWidth]);
      expect(shown, picture).toBe(natural);
      expect(shown, picture).toBeLessThanOrEqual(space);
    }
  });

  test('code is copied by touch', async () => {
    const page = await open('index.html', {
      ...PHONE,
      hasTouch: true,
      isMobile: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.waitForLoadState();
    const block = page.locator('pre').first();
    const button = block.getByRole('button');
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
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'npm install merchant-payments',
    );
  });

  describe('each page', () => {
    let look: Look;
    // Once for all: to open the pages takes longer than to look at them. A second for each of some thirty, and
    // more where other suites run.
    beforeAll(async () => {
      look = await openAll();
    }, 240_000);

    test('has no code and no table that breaks inside a word on a telephone', () => {
      expect(look.broken).toEqual([]);
    });

    test('makes no request to another place', () => {
      expect(look.outside).toEqual([]);
    });

    test('has one title', () => {
      expect(look.titles).toEqual([]);
    });

    test('does not scroll sideways on a telephone', () => {
      expect(look.wide).toEqual([]);
    });

    test.each(['dark', 'light'] as const)('has nothing that axe finds wrong: %s', (scheme) => {
      expect(look[scheme]).toEqual([]);
    });
  });
});
