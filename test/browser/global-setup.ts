import { chromium } from 'playwright-core';
import { findPostgres } from '../services/find-servers.js';
import { findChromium } from './chromium.js';

/**
 * Starts the browser for all files, and puts its address into BROWSER_ENDPOINT. For the shop, puts the address
 * of a Postgres into DATABASE_URL. Reports once if either is missing.
 */
export default async function setUpBrowserTests(): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    report(
      'no browser found: install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH',
    );
    return undefined;
  }
  const postgres = await findPostgres();
  if (postgres === undefined) {
    report('no Postgres found for the shop: install it or set DATABASE_URL');
  } else {
    process.env['DATABASE_URL'] = postgres.url;
  }
  // Chromium has no sandbox for root, the usual user of containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launchServer({ executablePath, args });
  process.env['BROWSER_ENDPOINT'] = browser.wsEndpoint();
  return async () => {
    await browser.close();
    await postgres?.stop?.();
  };
}

function report(missing: string): void {
  if (process.env['CI'] === 'true') throw new Error(missing);
  console.error(`Skipped: ${missing}`);
}
