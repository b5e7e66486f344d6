import { beforeAll, describe, expect, test } from 'vitest';
import { describeInBrowser } from '../browser/browser.js';
import { addressOf, findViolations, GUIDES, open, pageOf } from './site.js';

const PHONE = { viewport: { width: 360, height: 800 } };

/** The landing page, all guides and, of the symbols, the widest of each kind. */
function pagesToLookAt(): string[] {
  return [
    'index.html',
    ...GUIDES.map(pageOf),
    'modules/merchant-payments_callback.html',
    'interfaces/merchant-payments_msw.PaymentServiceHandlersOptions.html',
    'classes/merchant-payments.InvalidCredentialsError.html',
    'types/merchant-payments_store.StoredPayment.html',
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
  const [wide, outside]: [string[], string[]] = [[], []];
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
    if ((await page.evaluate(OVERFLOW)) !== 0) wide.push(file);

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
  return { wide, outside, dark, light };
}

describeInBrowser('the documentation site, opened from a folder', () => {
  describe('each page', () => {
    let look: Look;
    // Once for all: to open the pages takes longer than to look at them. A second for each of some thirty, and
    // more where other suites run.
    beforeAll(async () => {
      look = await openAll();
    }, 240_000);

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
