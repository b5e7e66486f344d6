import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { VerifiedCallback } from '../../../src/callback/options.js';
import type { PostgresStore } from '../../../src/postgres/postgres-store.js';
import type { StoreContext } from '../../../src/store/callback-store.js';
import { signCallback } from '../../../src/testing/sign-callback.js';
import { change } from '../change.js';
import { useSchema } from '../server.js';

interface Sample {
  /** That of each sample has another `tx`. */
  readonly store: PostgresStore<never>;
  onPayment(callback: VerifiedCallback, context: StoreContext<never>): Promise<void>;
  readonly handler?: RequestListener;
}

const SCHEMA = 'mp_guide';
const SECRET = 'guide-signing-secret';
const { observer } = useSchema(SCHEMA);
const samples = ['pg', 'drizzle', 'kysely', 'knex', 'typeorm', 'prisma', 'postgres-js'];

// The samples of docs/your-own-transaction.md; test/docs holds the guide to these files.
describe.skipIf(!process.env['DATABASE_URL'])('the samples of the guide', () => {
  const modules = new Map<string, Sample>();
  let closeDataSource = async (): Promise<void> => undefined;

  beforeAll(async () => {
    await observer.query(`DROP TABLE orders;
      CREATE TABLE orders (reference text PRIMARY KEY, status text);
      CREATE TABLE shipments (reference text PRIMARY KEY, at timestamptz DEFAULT clock_timestamp())`);
    const url = new URL(process.env['DATABASE_URL'] ?? '');
    url.searchParams.set('options', `-c search_path=${SCHEMA}`);
    vi.stubEnv('DATABASE_URL', url.href);
    vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', SECRET);
    for (const name of samples) {
      modules.set(name, await import(`../../../examples/transactions/${name}.ts`));
    }
    const { dataSource } = await import('../../../examples/transactions/typeorm.js');
    closeDataSource = () => dataSource.destroy();
  });
  afterAll(() => closeDataSource());

  describe.each(samples)('%s', (name) => {
    const reference = `order-${name}`;
    const sample = () => modules.get(name) as Sample;
    const store = async () => {
      const { rows: orders } = await observer.query(
        'SELECT status FROM orders WHERE reference = $1',
        [reference],
      );
      const { rows: shipments } = await observer.query(
        'SELECT reference FROM shipments WHERE reference = $1',
        [reference],
      );
      return { status: orders[0]?.status, shipments: shipments.length };
    };
    /** Delivers a status, so many minutes after the first, as a receiver does. */
    const deliver = (status: string, minute: number, stale = false) =>
      sample().store.process(change(reference, minute, { processStale: true }), (context) => {
        const payment = { merchantPaymentReference: reference, status };
        return sample().onPayment({ payment } as VerifiedCallback, { ...context, stale });
      });

    it('asks the service to retry while the order is not stored', async () => {
      await expect(deliver('paid', 1)).rejects.toMatchObject({ code: 'RETRY_LATER' });
      expect(await store()).toEqual({ status: undefined, shipments: 0 });
    });

    it('then marks the order and ships once, however often it is delivered', async () => {
      await observer.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
      expect(await deliver('paid', 1)).toBe('processed');
      expect(await deliver('paid', 1)).toBe('duplicate');
      expect(await store()).toEqual({ status: 'paid', shipments: 1 });
    });

    it('ships for a payment that is paid again, once', async () => {
      expect(await deliver('paid', 2)).toBe('processed');
      expect(await store()).toEqual({ status: 'paid', shipments: 1 });
    });

    it('ships when a newer status was processed first, and keeps that status', async () => {
      await observer.query('DELETE FROM shipments WHERE reference = $1', [reference]);
      expect(await deliver('settled', 4)).toBe('processed');
      expect(await deliver('paid', 3, true)).toBe('processed');
      expect(await store()).toEqual({ status: 'settled', shipments: 1 });
    });

    it('undoes the status when shipping fails, and does both later', async () => {
      await observer.query(`DELETE FROM shipments WHERE reference = '${reference}';
        ALTER TABLE shipments ADD CONSTRAINT closed CHECK (reference <> '${reference}')`);
      await expect(deliver('paid', 5)).rejects.toThrow();
      expect(await store()).toEqual({ status: 'settled', shipments: 0 });
      await observer.query('ALTER TABLE shipments DROP CONSTRAINT closed');
      expect(await deliver('paid', 5)).toBe('processed');
      expect(await store()).toEqual({ status: 'paid', shipments: 1 });
    });
  });

  it('answer over HTTP', async () => {
    const server = createServer(modules.get('pg')?.handler).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await observer.query("INSERT INTO orders (reference) VALUES ('order-http')");
    const { rawBody, headers } = signCallback({
      payment: { merchantPaymentReference: 'order-http', status: 'paid' },
      signingSecret: SECRET,
    });
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: rawBody as Uint8Array<ArrayBuffer>,
      headers,
    });
    server.close();
    server.closeAllConnections();
    expect(response.status).toBe(200);
    const { rows } = await observer.query(
      "SELECT status FROM orders JOIN shipments USING (reference) WHERE reference = 'order-http'",
    );
    expect(rows).toEqual([{ status: 'paid' }]);
  });
});
