import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import type { PaymentStore } from '../../src/store/payment-store.js';

const { DATABASE_URL } = process.env;

interface Readme {
  readonly checkout: (reference: string, amount: number) => Promise<string>;
  readonly handleCallback: RequestListener;
  readonly pool: pg.Pool;
  readonly store: PaymentStore;
}

/** The README's block of code on Postgres as it stands, on a separate schema. */
async function startReadme(service: MockServer): Promise<Readme> {
  const schema = `readme_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(DATABASE_URL ?? '');
  url.searchParams.set('options', `-c search_path=${schema}`);
  vi.stubEnv('DATABASE_URL', url.href);
  vi.stubEnv('MERCHANT_PAYMENTS_BASE_URL', service.url);
  vi.stubEnv('MERCHANT_PAYMENTS_API_KEY', service.apiKey);
  vi.stubEnv('MERCHANT_PAYMENTS_API_SECRET', service.apiSecret);
  vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', service.signingSecret);

  const readmeText = await readFile('README.md', 'utf8');
  const blocks = [...readmeText.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.includes('postgresStore(')) ?? '';
  const folder = path.resolve('test-artifacts', schema);
  const file = path.join(folder, 'readme.ts');
  await mkdir(folder, { recursive: true });
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(file, code.replaceAll(/^const (?=pool|store)/gm, 'export const '));
  const readme: Readme = await import(file);

  const { pool } = readme;
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });
  await pool.query(`CREATE SCHEMA ${schema}`);
  await pool.query(await readFile('examples/shop/schema.sql', 'utf8'));
  await readme.store.setup();

  const endpoint = createServer(readme.handleCallback);
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void endpoint.close());
  service.callbackUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
  return readme;
}

const statusesOf = ({ deliveries }: MockServer) =>
  deliveries.map(({ response }) => response?.status);

const ordersOf = async ({ pool }: Readme) => {
  const { rows } = await pool.query(
    'SELECT merchant_payment_reference AS reference, status, shipments IS NOT NULL AS shipped FROM orders LEFT JOIN shipments USING (merchant_payment_reference) ORDER BY reference',
  );
  return rows;
};

describe.skipIf(!DATABASE_URL)('the journey of the README, on Postgres', () => {
  it('ships once what is paid, early, late and several times', async () => {
    await using service = await startMockServer({ retryScheduleMs: [] });
    const readme = await startReadme(service);
    const { url: baseUrl, apiKey, apiSecret } = service;
    await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
    const paymentOf = (reference: string) =>
      service.payments.list().find((one) => one.merchantPaymentReference === reference)
        ?.referenceNumber ?? '';

    service.faults.add({ on: 'request', type: 'lost-answer' });
    const clicks = [readme.checkout('in-time', 2500), readme.checkout('in-time', 2500)];
    expect(await Promise.all(clicks)).toEqual(['unresolved', 'unresolved']);
    expect(service.payments.list()).toHaveLength(1);
    service.faults.add({ on: 'callback', type: 'duplicate', mode: 'at-once', copies: 3 });
    await service.setStatus(paymentOf('in-time'), 'paid');
    expect(statusesOf(service)).toEqual([200, 200, 200, 200]);
    expect(await readme.checkout('in-time', 2500)).toBe('created');
    expect(service.payments.list()).toHaveLength(1);

    await readme.checkout('late', 2500);
    service.faults.add({ on: 'callback', type: 'reorder' });
    await service.setStatus(paymentOf('late'), 'paid');
    await service.setStatus(paymentOf('late'), 'settled');
    await service.waitForDelivery({ referenceNumber: paymentOf('late'), status: 'paid' });
    expect(statusesOf(service).slice(4)).toEqual([200, 200]);

    await client.payments.create({
      merchantPaymentReference: 'overtaken',
      amount: 2500,
      currency: 'EUR',
    });
    await service.setStatus(paymentOf('overtaken'), 'paid');
    expect(statusesOf(service).slice(6)).toEqual([503]);
    await readme.pool.query("INSERT INTO orders (merchant_payment_reference) VALUES ('overtaken')");
    await service.resend(paymentOf('overtaken'));
    expect(statusesOf(service).slice(7)).toEqual([200]);

    expect(await ordersOf(readme)).toEqual([
      { reference: 'in-time', status: 'paid', shipped: true },
      { reference: 'late', status: 'settled', shipped: true },
      { reference: 'overtaken', status: 'paid', shipped: true },
    ]);
  });
});
