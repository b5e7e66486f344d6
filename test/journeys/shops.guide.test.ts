import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { bundle } from '../bundle.js';
import { readBlocks } from '../docs/snippets/blocks.js';
import { inDatabase } from '../services/mysql-url.js';
import { findFreePort } from '../services/throwaway-server.js';

const { MYSQL_URL = '' } = process.env;

function makeFolder(): string {
  mkdirSync('test-artifacts', { recursive: true });
  const folder = path.resolve(mkdtempSync('test-artifacts/guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(path.resolve('test/node_modules'), path.join(folder, 'node_modules'), 'junction');
  return folder;
}

interface Shop {
  readonly service: MockServer;
  readonly url: string;
  /** Resolves with its exit code, once it has ended by itself. */
  stop(): Promise<number | null>;
}

/** Starts the program that a guide shows, beside the other files that it shows, in a process of its own. */
async function startShop(
  page: string,
  program: string,
  settings: Record<string, string>,
): Promise<Shop> {
  const folder = makeFolder();
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const { name, code } of readBlocks(page)) {
    if (name !== undefined) writeFileSync(path.join(folder, name), code);
  }
  await bundle({ [program]: path.join(folder, `${program}.ts`) }, folder);

  const service = await startMockServer({ retryScheduleMs: [] });
  onTestFinished(() => service.close());
  const port = String(await findFreePort());
  const shop = spawn(process.execPath, [path.join(folder, `${program}.js`)], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PORT: port,
      MERCHANT_PAYMENTS_BASE_URL: service.url,
      MERCHANT_PAYMENTS_API_KEY: service.apiKey,
      MERCHANT_PAYMENTS_API_SECRET: service.apiSecret,
      MERCHANT_PAYMENTS_SIGNING_SECRET: service.signingSecret,
      ...settings,
    },
  });
  const ended = once(shop, 'close');
  onTestFinished(() => void shop.kill('SIGKILL'));
  await Promise.race([once(createInterface({ input: shop.stdout }), 'line'), ended]);
  service.callbackUrl = `http://127.0.0.1:${port}/callbacks/payments`;
  return {
    service,
    url: `http://127.0.0.1:${port}/orders/order-1`,
    async stop() {
      shop.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

/** Two clicks, of which the first gets no answer; `settled` overtakes `paid`; then an order that is not stored. */
async function buy({ service, url }: Shop) {
  service.faults.add({ on: 'request', type: 'lost-answer' });
  for (const _click of [1, 2]) {
    const { status } = await fetch(url, { method: 'POST', redirect: 'manual' });
    expect(status).toBe(303);
  }
  const read = async () => (await fetch(url)).json();
  const before = await read();
  const [payment, ...others] = service.payments.list();
  if (payment === undefined) return expect.fail('there is no payment');
  expect(others).toEqual([]);
  service.faults.add({ on: 'callback', type: 'reorder' });
  service.faults.add({ on: 'callback', type: 'duplicate', mode: 'at-once', copies: 3 });
  await service.setStatus(payment.referenceNumber, 'paid');
  await service.setStatus(payment.referenceNumber, 'settled');
  await service.waitForDelivery({ referenceNumber: payment.referenceNumber, status: 'paid' });
  const after = await read();
  const answers = service.deliveries.map(({ response }) => response?.status);
  for (const status of answers) expect([200, 503]).toContain(status);
  return { before, after };
}

describe('the shop of the guide on SQLite', () => {
  it('creates one payment, ships it once and late, keeps the newer status, and ends at SIGTERM', async () => {
    const shop = await startShop('docs/sqlite.md', 'shop', { DATABASE_FILE: 'shop.db' });
    const { before, after } = await buy(shop);
    expect(before).toMatchObject({ payment: 'unresolved', order: { shipped_at: null } });
    expect(after).toMatchObject({
      payment: 'created',
      order: { status: 'settled', shipped_at: expect.any(String) },
    });
    expect(await shop.stop()).toBe(0);
  });
});

interface Sample {
  checkout(reference: string, amount: number): Promise<{ readonly state: string }>;
  readonly handler: RequestListener;
  /** If it has one that must be closed. */
  readonly pool?: { end(): Promise<void> };
}

/** Imports the sample that a guide shows, for a mock that calls its handler. */
async function importSample(example: string, service: MockServer): Promise<Sample> {
  vi.stubEnv('MERCHANT_PAYMENTS_BASE_URL', service.url);
  vi.stubEnv('MERCHANT_PAYMENTS_API_KEY', service.apiKey);
  vi.stubEnv('MERCHANT_PAYMENTS_API_SECRET', service.apiSecret);
  vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', service.signingSecret);
  const sample: Sample = await import(path.resolve(example));
  onTestFinished(() => sample.pool?.end());
  const server = createServer(sample.handler).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  service.callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return sample;
}

describe.skipIf(!MYSQL_URL)('the sample of the guide on MySQL', () => {
  it('creates one payment, ships it once and late, and keeps the newer status', async () => {
    const page = 'docs/mysql.md';
    const database = `guide_${randomUUID().replaceAll('-', '')}`;
    const admin = await mysql.createConnection({ uri: MYSQL_URL, multipleStatements: true });
    onTestFinished(async () => {
      await admin.query(`DROP DATABASE ${database}`);
      await admin.end();
    });
    await admin.query(`CREATE DATABASE ${database}; USE ${database}`);
    await admin.query(readBlocks(page).find(({ language }) => language === 'sql')?.code ?? '');
    vi.stubEnv('MYSQL_URL', inDatabase(MYSQL_URL, database));
    await using service = await startMockServer({ retryScheduleMs: [] });
    const { checkout } = await importSample('examples/transactions/mysql.ts', service);

    service.faults.add({ on: 'request', type: 'lost-answer' });
    for (const _click of [1, 2]) expect((await checkout('order-1', 2500)).state).toBe('unresolved');
    const [{ referenceNumber } = { referenceNumber: '' }] = service.payments.list();
    service.faults.add({ on: 'callback', type: 'reorder' });
    await service.setStatus(referenceNumber, 'paid');
    await service.setStatus(referenceNumber, 'settled');
    await service.waitForDelivery({ referenceNumber, status: 'paid', acknowledged: true });
    expect((await checkout('order-1', 2500)).state).toBe('created');
    expect(service.payments.list()).toHaveLength(1);
    const [rows] = await admin.query('SELECT * FROM orders JOIN shipments USING (reference)');
    expect(rows).toEqual([{ reference: 'order-1', status: 'settled' }]);
  });
});
