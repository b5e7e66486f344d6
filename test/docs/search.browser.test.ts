import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../browser/browser.js';
import { findViolations, GUIDES, openAt, pageOf, SITE } from './site.js';

/** What readers search for, by the guide that they should find first. */
const QUERIES: Record<string, readonly string[]> = {
  SECURITY: ['gdpr', 'personal data', 'vulnerability'],
  'check-your-endpoint': ['github actions', 'invalid signature', 'signature refused'],
  'choose-a-store': ['exactly once', 'redis'],
  'create-payments': ['double charge', 'idempotency', 'outbox', 'retries', 'retry', 'timeout'],
  errors: ['error codes'],
  frameworks: ['express', 'lambda', 'next.js', 'nextjs', 'raw body'],
  connections: ['mtls', 'proxy'],
  'go-live': ['checklist', 'production', 'rotate api key'],
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
  'order-from-checkout-to-paid': ['checkout'],
  orm: ['prisma', 'typeorm'],
  postgres: ['pgbouncer'],
  queues: ['background job', 'bullmq', 'sqs'],
  speed: ['benchmark'],
  sqlite: ['better-sqlite3'],
  start: ['getting started', 'install', 'quickstart'],
  'test-your-integration': ['fake timers', 'jest', 'msw', 'unit tests', 'vitest'],
  'watch-in-production': ['alerts', 'logging', 'metrics', 'monitoring', 'opentelemetry'],
  'when-a-payment-is-declined': ['decline', 'declined', 'try again'],
  'when-something-needs-a-person': ['dead letter', 'refund', 'stuck payment', 'unresolved'],
  'work-with-the-mock': ['cli', 'dashboard', 'docker', 'localhost', 'sandbox', 'test mode'],
};

/** What the file system does not say, and a browser must know. */
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** pagefind fetches its index, which no browser allows from a folder. */
function serveSite(): Promise<Server> {
  const server = createServer(async ({ url = '/' }, response) => {
    const file = path.join(SITE, new URL(url, 'http://site').pathname);
    const content = await readFile(file).catch(() => undefined);
    if (content === undefined) return response.writeHead(404).end();
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    return response.writeHead(200, { 'content-type': type }).end(content);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const RESULTS = '.pf-result-link';

/** The addresses of what is found, once the search says that it is done. */
async function search(page: Page, words: string): Promise<string[]> {
  await page.locator('pagefind-modal input').fill(words);
  await page.locator('pagefind-summary').getByText(` for ${words}`).waitFor();
  // Each result is loaded by itself, and a later one may be there before the first.
  await page.locator('.pf-result').first().locator(RESULTS).waitFor();
  const links = await page.locator(RESULTS).evaluateAll((all) => all.map(({ href }) => href));
  return links.map((link) => new URL(link).pathname.slice(1));
}

describeInBrowser('the search of the site', () => {
  let server: Server;
  beforeAll(async () => {
    server = await serveSite();
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** A page whose search is open, from the keyboard. */
  async function openSearch(options: BrowserContextOptions = {}): Promise<Page> {
    const { port } = server.address() as AddressInfo;
    const page = await openAt(`http://127.0.0.1:${port}/index.html`, options);
    await page.locator('pagefind-modal-trigger button').waitFor();
    await page.keyboard.press('/');
    await page.locator('pagefind-modal input').waitFor();
    return page;
  }

  test('finds the right guide first', async () => {
    const page = await openSearch();
    const wrong: unknown[] = [];
    for (const [guide, queries] of Object.entries(QUERIES)) {
      const file = GUIDES.find((each) => path.basename(each) === `${guide}.md`);
      if (file === undefined)
        expect.fail(`scripts/docs/guides.mjs has no ${guide}.md: correct QUERIES`);
      for (const query of queries) {
        const found = await search(page, query);
        if (found[0] !== pageOf(file)) wrong.push([query, guide, ...found.slice(0, 3)]);
      }
    }
    expect(Object.values(QUERIES).flat().length).toBeGreaterThanOrEqual(30);
    expect(wrong).toEqual([]);
  });

  test('leads to the section that has the words', async () => {
    const page = await openSearch();
    await search(page, 'rotate secret');
    await page.getByRole('link', { name: 'Rotating the signing secret' }).click();
    await page.waitForURL('**/docs/handle-callbacks.html#rotating-the-signing-secret');
  });

  test.each([
    ['PaymentClient', 'classes/merchant-payments.PaymentClient.html'],
    ['createCallbackVerifier', 'functions/merchant-payments.createCallbackVerifier.html'],
    ['load balancers', 'modules/merchant-payments_lambda.html'],
  ])('finds symbols: %s', async (query, symbol) => {
    expect(await search(await openSearch(), query)).toContain(symbol);
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
