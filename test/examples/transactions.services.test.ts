import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MockServer } from 'merchant-payments/mock-server';
import type { PaymentStore } from 'merchant-payments/store';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inDatabase } from '../services/mysql-url.js';
import { useEmptySchema } from '../services/postgres-schema.js';
import {
  createPayment,
  environmentFor,
  findPayment,
  signingSecret,
  startService,
} from './payment-scene.js';

// The samples of docs/orm.md; test/docs holds the guide to these files.

const NAME = 'mp_transactions_samples';

interface Sample {
  readonly store: PaymentStore<never>;
  readonly handler: RequestListener;
  checkout(reference: string, amount: number): Promise<{ state: string }>;
}

interface Database {
  readonly samples: readonly string[];
  query(statement: string): Promise<Record<string, unknown>[]>;
  stubUrl(): void;
}

let service: MockServer;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

function describeSamples({ samples, query, stubUrl }: Database): void {
  const modules = new Map<string, Sample>();

  beforeAll(async () => {
    stubUrl();
    for (const [name, value] of Object.entries(environmentFor(service))) vi.stubEnv(name, value);
    for (const name of samples) {
      modules.set(name, await import(`../../examples/transactions/${name}.ts`));
    }
  });

  /** The sample behind an endpoint to which the service sends callbacks. */
  const open = async (name: string): Promise<Sample> => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', signingSecret); // read by the first callback
    const sample = modules.get(name) as Sample;
    const server = createServer(sample.handler).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    service.callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return sample;
  };

  /** The status of an order, and how often it is shipped; undefined without an order. */
  const stored = async (reference: string) => {
    const [order] = await query(`SELECT status FROM orders WHERE reference = '${reference}'`);
    const shipped = await query(`SELECT 1 AS one FROM shipments WHERE reference = '${reference}'`);
    return order && [order['status'], shipped.length];
  };

  const setStatus = async (referenceNumber: string, status: string) => {
    const { attempts } = await service.setStatus(referenceNumber, status);
    return attempts.at(-1)?.response?.status;
  };

  describe.each(samples)('%s', (name) => {
    it('stores an order with its payment, or neither, and ships what is paid once', async () => {
      const { checkout, store } = await open(name);
      const reference = `order-${name}`;
      await expect(checkout(reference, Number.NaN)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
      expect(await stored(reference)).toBeUndefined();
      expect(await checkout(reference, 2500)).toMatchObject({ state: 'created', replayed: false });
      expect(await checkout(reference, 2500)).toMatchObject({ state: 'created', replayed: true });
      await expect(checkout(reference, 9)).rejects.toMatchObject({ code: 'REFERENCE_CONFLICT' });

      const referenceNumber = findPayment(service, reference);
      expect(await setStatus(referenceNumber, 'paid')).toBe(200);
      await service.resend(referenceNumber);
      expect(await stored(reference)).toEqual(['paid', 1]);
      expect(await store.get(reference)).toMatchObject({ payment: { status: 'paid' } });
    });

    it('asks the service to retry while the order is not stored', async () => {
      await open(name);
      const reference = `early-${name}`;
      await createPayment(service, reference);
      const referenceNumber = findPayment(service, reference);
      expect(await setStatus(referenceNumber, 'paid')).toBe(503);
      expect(await stored(reference)).toBeUndefined();
      await query(`INSERT INTO orders (reference) VALUES ('${reference}')`);
      await service.resend(referenceNumber);
      expect(await stored(reference)).toEqual(['paid', 1]);
    });

    it('ships what is paid late, and keeps the newer status', async () => {
      const { checkout } = await open(name);
      const reference = `late-${name}`;
      await checkout(reference, 2500);
      const referenceNumber = findPayment(service, reference);
      service.faults.add({ on: 'callback', type: 'reorder' });
      await service.setStatus(referenceNumber, 'paid');
      await service.setStatus(referenceNumber, 'settled');
      await service.waitForDelivery({ referenceNumber, status: 'paid' });
      expect(await stored(reference)).toEqual(['settled', 1]);
    });

    it('undoes the status when shipping fails, and does both later', async () => {
      const { checkout } = await open(name);
      const reference = `undone-${name}`;
      await checkout(reference, 2500);
      const referenceNumber = findPayment(service, reference);
      await query('ALTER TABLE shipments RENAME TO mislaid');
      expect(await setStatus(referenceNumber, 'paid')).toBe(500);
      await query('ALTER TABLE mislaid RENAME TO shipments');
      expect(await stored(reference)).toEqual([null, 0]);
      await service.resend(referenceNumber);
      expect(await stored(reference)).toEqual(['paid', 1]);
    });

    it('ships the order that a further attempt has paid', async () => {
      const { checkout, store } = await open(name);
      const reference = `again-${name}`;
      await checkout(reference, 2500);
      expect(await setStatus(findPayment(service, reference), 'declined')).toBe(200);
      const further = { merchantPaymentReference: `${name}-2`, amount: 2500, currency: 'EUR' };
      await store.create(further, { replaces: reference });
      expect(await setStatus(findPayment(service, `${name}-2`), 'paid')).toBe(200);
      expect(await stored(reference)).toEqual(['paid', 1]);
      expect(await checkout(reference, 2500)).toMatchObject({ replayed: true });
    });
  });
}

describe.skipIf(!process.env['DATABASE_URL'])('the samples on Postgres', () => {
  const { observer } = useEmptySchema(NAME);
  beforeAll(async () => {
    await observer.query(`CREATE TABLE orders (reference text PRIMARY KEY, status text);
      CREATE TABLE shipments (reference text PRIMARY KEY)`);
  });
  afterAll(async () => {
    const { dataSource } = await import('../../examples/transactions/typeorm.js');
    await dataSource.destroy();
  });
  describeSamples({
    samples: ['pg', 'drizzle', 'kysely', 'knex', 'typeorm', 'prisma', 'postgres-js'],
    query: async (statement) => (await observer.query(statement)).rows,
    stubUrl() {
      const url = new URL(process.env['DATABASE_URL'] ?? '');
      url.searchParams.set('options', `-c search_path=${NAME}`);
      vi.stubEnv('DATABASE_URL', url.href);
    },
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('the samples on MySQL', () => {
  const url = process.env['MYSQL_URL'] ?? 'mysql://127.0.0.1';
  const pool = mysql.createPool(inDatabase(url, NAME));
  const query = async (statement: string) =>
    (await pool.query<RowDataPacket[]>(statement))[0] as Record<string, unknown>[];
  beforeAll(async () => {
    const admin = await mysql.createConnection(url);
    await admin.query(`DROP DATABASE IF EXISTS ${NAME}`);
    await admin.query(`CREATE DATABASE ${NAME}`);
    await admin.end();
    const tables = readFileSync('examples/transactions/mysql-tables.sql', 'utf8');
    for (const statement of tables.trim().split(/;\n/)) await query(statement);
  });
  afterAll(async () => {
    const { db } = await import('../../examples/transactions/mysql-drizzle.js');
    const { dataSource } = await import('../../examples/transactions/mysql-typeorm.js');
    const { prisma } = await import('../../examples/transactions/mysql-prisma.js');
    await (await import('../../examples/transactions/mysql.js')).pool.end();
    await new Promise((resolve) => db.$client.end(resolve));
    await dataSource.destroy();
    await prisma.$disconnect();
    await query(`DROP DATABASE ${NAME}`);
    await pool.end();
  });
  describeSamples({
    samples: ['mysql', 'mysql-drizzle', 'mysql-typeorm', 'mysql-prisma'],
    query,
    stubUrl: () => vi.stubEnv('MYSQL_URL', inDatabase(url, NAME)),
  });

  // Collations that pad take the two for one; `order-1` would then be paid by the payment of `order-1 `.
  it('store no order whose reference ends in a space, nor a shortened one', async () => {
    const place = (reference: string) =>
      pool.query(
        'INSERT INTO orders (reference) VALUES (?) ON DUPLICATE KEY UPDATE reference = reference',
        [reference],
      );
    await place('order-padded');
    await place('order-padded');
    await expect(place('order-padded ')).rejects.toThrow(/constraint/i);
    await expect(place('order-new ')).rejects.toThrow(/constraint/i);
    await expect(place('o'.repeat(201))).rejects.toMatchObject({ code: 'ER_DATA_TOO_LONG' });
    const orders = await query("SELECT reference FROM orders WHERE reference LIKE 'order-padded%'");
    expect(orders).toEqual([{ reference: 'order-padded' }]);
  });
});
