import { execFileSync } from 'node:child_process';
import { findChromium } from './chromium.js';

/** Says once whether there is a browser, and builds the page as it is in the sources. */
export default function setUpDashboard(): void {
  if (findChromium() === undefined) {
    const message =
      'no browser found for the tests of the dashboard: install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH';
    if (process.env['CI'] === 'true') throw new Error(message);
    console.error(`Skipped: ${message}`);
    return;
  }
  execFileSync(process.execPath, ['scripts/build-dashboard.mjs'], { stdio: 'inherit' });
}
