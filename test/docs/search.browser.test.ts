import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../browser/browser.js';
import { findViolations, GUIDES, open, pageOf } from './site.js';

/** What readers search for, by the guide that they should find first. */
const QUERIES: Record<string, readonly string[]> = {
  SECURITY: ['gdpr', 'personal data', 'vulnerability'],
  'check-your-endpoint': ['github actions', 'invalid signature', 'signature refused'],
  'choose-a-store': ['database', 'exactly once', 'redis'],
  'create-payments': [
    'api key',
    'double charge',
    'idempotency',
    'outbox',
    'retries',
    'retry',
    'timeout',
  ],
  errors: ['error codes'],
  frameworks: ['express', 'lambda', 'next.js', 'nextjs', 'raw body'],
  'go-live': ['checklist', 'mtls', 'production', 'proxy', 'rotate api key'],
  'handle-callbacks': ['duplicate', 'hmac', 'ipn', 'rotate secret', 'status codes', 'webhook'],
  'imports-and-versions': [
    'glossary',
    'node version',
    'python',
    'requirements',
    'swagger',
    'upgrade',
  ],
  'move-an-existing-integration': ['cut over', 'legacy', 'migrate'],
  mysql: ['mariadb'],
  'open-points': ['cents'],
  'order-from-checkout-to-paid': ['checkout', 'double click'],
  orm: ['prisma', 'typeorm'],
  postgres: ['pgbouncer'],
  queues: ['background job', 'bullmq', 'sqs'],
  speed: ['benchmark'],
  sqlite: ['better-sqlite3'],
  start: ['getting started', 'install', 'quickstart'],
  'test-your-integration': ['fake timers', 'jest', 'msw', 'unit tests', 'vitest'],
  'watch-in-production': ['alerts', 'logging', 'metrics', 'monitoring', 'opentelemetry'],
  'when-a-payment-is-declined': ['decline', 'declined', 'retry payment'],
  'when-something-needs-a-person': ['dead letter', 'refund', 'stuck payment', 'unresolved'],
  'work-with-the-mock': ['cli', 'dashboard', 'docker', 'localhost', 'sandbox', 'test mode'],
};

async function search(page: Page, words: string): Promise<string[]> {
  await page.getByRole('combobox').fill(words);
  return page
    .locator('[role=option] > a')
    .evaluateAll((links) => links.map((link) => link.dataset['url']));
}

/** A page whose search is open, from the keyboard, and ready. */
async function openSearch(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await open('index.html', options);
  await page.waitForLoadState();
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill('payment');
  await page.getByRole('option').first().waitFor();
  return page;
}

describeInBrowser('the search of the site', () => {
  test('finds the right guide first', async () => {
    const page = await openSearch();
    const wrong: unknown[] = [];
    for (const [guide, queries] of Object.entries(QUERIES)) {
      const file = GUIDES.find((each) => path.basename(each) === `${guide}.md`);
      if (file === undefined)
        expect.fail(`scripts/docs/guides.mjs has no ${guide}.md: correct QUERIES`);
      for (const query of queries) {
        const found = await search(page, query);
        if (found[0]?.split('#')[0] !== pageOf(file))
          wrong.push([query, guide, ...found.slice(0, 3)]);
      }
    }
    expect(Object.values(QUERIES).flat().length).toBeGreaterThanOrEqual(30);
    expect(wrong).toEqual([]);
  });

  test('finds a section, and shows the words that it found', async () => {
    const page = await openSearch();
    const [first] = await search(page, 'rotate secret');
    expect(first).toMatch(/#\w/);
    const option = page.getByRole('option').first();
    expect(await option.locator('small mark').allInnerTexts()).toContain('secrets');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/${first}`);
  });

  test('leads to what is clicked', async () => {
    const page = await openSearch();
    const [first] = await search(page, 'webhook');
    await page.getByRole('option').first().click();
    await page.waitForURL(`**/${first}`);
  });

  test('finds first what is spelled as in code', async () => {
    const [first] = await search(await openSearch(), 'PaymentClient');
    expect(first).toBe('classes/merchant-payments.PaymentClient.html');
  });

  test.each([
    ['callback verifier', 'functions/merchant-payments.createCallbackVerifier.html'],
    ['load balancers', 'modules/merchant-payments_lambda.html'],
  ])('finds symbols: %s', async (query, symbol) => {
    expect(await search(await openSearch(), query)).toContain(symbol);
  });

  test('finds what is misspelled, and says when there is nothing', async () => {
    const page = await openSearch();
    expect((await search(page, 'postgers'))[0]).toMatch(/postgres/);
    expect(await search(page, 'xyzzy')).toEqual([]);
    await page.getByText('Nothing found for “xyzzy”.').waitFor();
  });

  test.each(['dark', 'light'] as const)(
    'has nothing that axe finds wrong: %s',
    async (colorScheme) => {
      const page = await openSearch({ colorScheme, reducedMotion: 'reduce' });
      await search(page, 'rotate secret');
      await page.keyboard.press('ArrowDown');
      expect(await findViolations(page)).toEqual([]);
    },
  );
});
