import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openedBrowser } from '../browser/browser.js';

export const { guides } = (await import(path.resolve('scripts/docs/guides.mjs'))) as {
  guides: Record<string, string[]>;
};

/** The files of all guides, in the order of the site. */
export const GUIDES = Object.values(guides).flat();

export const SITE = path.resolve('site');

export const addressOf = (page: string): string => pathToFileURL(path.join(SITE, page)).href;

/** Where a guide is in the site. */
export const pageOf = (file: string): string => file.replace(/md$/, 'html');

/** A page of the site, opened as a file: without a server. */
export async function open(file: string, options: BrowserContextOptions = {}): Promise<Page> {
  return openAt(addressOf(file), options);
}

/** A page of the site by its address. */
export async function openAt(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  if (!existsSync(SITE)) throw new Error('there is no site/ to look at; run: npm run docs');
  const page = await openedBrowser().newPage(options);
  page.setDefaultTimeout(10_000);
  await page.goto(address);
  return page;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong on a page as it is shown. */
export async function findViolations(page: Page, options: object = {}): Promise<unknown[]> {
  await page.evaluate(AXE);
  return page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)]))`,
  );
}
