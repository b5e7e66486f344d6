import { beforeAll, describe, expect, test } from 'vitest';
import { describeInBrowser } from '../browser/browser.js';
import { addressOf, findViolations, GUIDES, guides, open, pageOf } from './site.js';

const PHONE = { viewport: { width: 360, height: 800 } };

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

  test('a guide leads to the guides before and after it', async () => {
    const [before, guide, after] = GUIDES.slice(2, 5).map(pageOf);
    const page = await open(guide ?? '');
    const link = (name: RegExp) => page.getByRole('link', { name });
    expect(await link(/^Previous: /).evaluate((each) => each.href)).toBe(addressOf(before ?? ''));
    await link(/^Next: /).click();
    await page.waitForURL(addressOf(after ?? ''));
    expect(await link(/^Edit this page$/).count()).toBe(0);
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
