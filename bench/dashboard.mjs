// How smoothly the dashboard draws while much happens: 50,000 payments, then 200 more a second, each paid and
// called back. Needs a build and Chromium; no part of run.mjs, as it needs a quiet machine to mean something.
//
//   node bench/dashboard.mjs [seconds=20]

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { startMockServer } from '../dist/mock-server/index.js';

const { chromium } = createRequire(new URL('../test/package.json', import.meta.url))(
  'playwright-core',
);

const PAYMENTS = 50_000;
const PER_SECOND = 200;
/** Steps of the load, each a part of a second's payments. */
const STEP_MS = 50;
/** At 60 frames a second, two frames. */
const GOAL_MS = 34;
const seconds = Number(process.argv[2] ?? 20);

const endpoint = createServer((request, response) => {
  request.resume();
  // One in twenty fails, and is retried.
  request.on('end', () => response.writeHead(Math.random() < 0.05 ? 500 : 200).end());
});
await new Promise((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
const server = await startMockServer({
  callbackUrl: `http://127.0.0.1:${endpoint.address().port}/`,
  retryScheduleMs: [3_600_000],
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: process.getuid() === 0 ? ['--no-sandbox'] : [],
});

const authorization = `Basic ${btoa(`${server.apiKey}:${server.apiSecret}`)}`;
let created = 0;
async function create() {
  created += 1;
  const answer = await server.fetch(
    new Request(`${server.url}/api/payments`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        merchantPaymentReference: `order-${created}`,
        amount: created,
        currency: 'EUR',
      }),
    }),
  );
  return (await answer.json()).referenceNumber;
}

while (created < PAYMENTS) await Promise.all(Array.from({ length: 500 }, create));

try {
  console.log(await measure());
} finally {
  await browser.close();
  await server.close();
  endpoint.close();
}

async function measure() {
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  await page.goto(`${server.url}/_mock/`);
  await page.getByText('Live', { exact: true }).waitFor();
  const pay = async () => server.setStatus(await create(), 'paid');
  const startedMs = performance.now();
  let paid = 0;
  const load = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1_000) * PER_SECOND;
    for (; paid < due; paid += 1) void pay();
  }, STEP_MS);
  const frames = await page.evaluate(
    (durationMs) =>
      new Promise((resolve) => {
        const intervals = [];
        const start = performance.now();
        let before = start;
        const take = (now) => {
          intervals.push(now - before);
          before = now;
          if (now - start < durationMs) requestAnimationFrame(take);
          else resolve(intervals.sort((left, right) => left - right));
        };
        requestAnimationFrame(take);
      }),
    seconds * 1_000,
  );
  clearInterval(load);
  await page.close();
  const at = (part) => frames[Math.floor((frames.length - 1) * part)].toFixed(1);
  return [
    `${frames.length} frames, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms (goal ${GOAL_MS}), longest ${at(1)} ms;`,
    `${paid} payments in ${seconds} s beside ${PAYMENTS}; load ${loadavg()[0].toFixed(1)}`,
  ].join(' ');
}
