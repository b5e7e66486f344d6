import { findChromium } from './chromium.js';

/** Says once whether there is a browser. */
export default function findBrowser(): void {
  if (findChromium() !== undefined) return;
  const message =
    'no browser found for the tests of the dashboard: install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH';
  if (process.env['CI'] === 'true') throw new Error(message);
  console.error(`Skipped: ${message}`);
}
