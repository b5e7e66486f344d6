import { findPostgres } from '../services/find-servers.js';
import { findChromium } from './chromium.js';

/** Says once whether there are a browser and, for the shop, a Postgres: its address is in DATABASE_URL. */
export default async function setUpBrowserTests(): Promise<(() => Promise<void>) | undefined> {
  if (findChromium() === undefined) {
    report(
      'no browser found: install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH',
    );
    return undefined;
  }
  const postgres = await findPostgres();
  if (postgres === undefined) {
    report('no Postgres found for the shop: install it or set DATABASE_URL');
    return undefined;
  }
  process.env['DATABASE_URL'] = postgres.url;
  return postgres.stop;
}

function report(missing: string): void {
  if (process.env['CI'] === 'true') throw new Error(missing);
  console.error(`Skipped: ${missing}`);
}
