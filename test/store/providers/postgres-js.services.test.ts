import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InboxEvent } from '../../../src/inbox/inbox.js';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { change, nothing } from '../../postgres/change.js';
import { type OpenProvider, providers } from '../../postgres/providers/providers.js';
import { useSchema } from '../../outbox/postgres/server.js';
import { unusedClient } from '../../outbox/unused-client.js';

const url = process.env['DATABASE_URL'] ?? '';

const WAYS: Readonly<Record<string, (client: Socket) => void>> = {
  reset: (client) => client.resetAndDestroy(),
  closed: (client) => client.destroy(),
};

/** Passes everything on to the server, until a client sends this text, in lower case: then its connection is lost. */
async function startCutter() {
  const { hostname, port } = new URL(url);
  let cut: { readonly at: string; readonly lose: (client: Socket) => void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname);
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (cut === undefined || !String(bytes).toLowerCase().includes(cut.at)) {
        upstream.write(bytes);
        return;
      }
      const { lose } = cut;
      cut = undefined;
      lose(client);
    });
    client.on('error', () => undefined);
    upstream.on('error', () => undefined);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    cutAt(at: string, lose: (client: Socket) => void) {
      cut = { at, lose };
    },
    isCut: () => cut === undefined,
    close: () => void server.close(),
  };
}

type Cutter = Awaited<ReturnType<typeof startCutter>>;

const onPostgresJs = Object.entries(providers).filter(([name]) => name.includes('postgres.js'));

describe.skipIf(url === '').each(onPostgresJs)('%s', (_, open) => {
  const { schema } = useSchema();
  let cutter: Cutter;
  let opened: OpenProvider;
  const openStores = () => ({
    inbox: postgresInbox(opened.provider),
    outbox: postgresOutbox(opened.provider, { client: unusedClient }),
  });
  type Stores = ReturnType<typeof openStores>;
  let stores: Stores;
  let event: InboxEvent;
  beforeAll(async () => {
    cutter = await startCutter();
  });
  afterAll(() => cutter.close());
  beforeEach(async () => {
    // With one connection, what follows is on the successor of the lost one.
    opened = await open(cutter.url, schema, { max: 1 });
    stores = openStores();
    event = change(randomUUID());
  });
  afterEach(() => opened.close());

  const sends = (tx: unknown) => opened.send(tx, "SELECT 'of the work'");
  const deliver = (work: (tx: unknown) => Promise<unknown>) =>
    stores.inbox.process(event, async ({ tx }) => void (await work(tx)));

  const outOfStock = Object.assign(new Error('out of stock'), { code: 'OUT_OF_STOCK' });
  const sendUnknown = () => stores.outbox.send('unknown');
  const getUnknown = () => stores.outbox.get('unknown');

  describe.each(Object.entries(WAYS))('whose connection is %s', (_way, lose) => {
    it.each<[string, string, string, () => Promise<unknown>]>([
      ['the begin of a delivery', 'isolation level', 'STORE_FAILED', () => deliver(nothing)],
      ['a claim', '_claim_', 'TRANSACTION_LOST', () => deliver(nothing)],
      ['a statement of the work', 'of the work', 'TRANSACTION_LOST', () => deliver(sends)],
      [
        'a statement of the work, which throws an error of its own',
        'of the work',
        'TRANSACTION_LOST',
        () => deliver((tx) => sends(tx).catch(() => Promise.reject(outOfStock))),
      ],
      ['the record of a change', '_record_', 'TRANSACTION_LOST', () => deliver(nothing)],
      ['the commit of a delivery', '\0commit\0', 'TRANSACTION_LOST', () => deliver(nothing)],
      [
        'the rollback of a delivery',
        '\0rollback\0',
        'OUT_OF_STOCK',
        () => deliver(() => Promise.reject(outOfStock)),
      ],
      ['the begin of a step', 'isolation level', 'STORE_FAILED', sendUnknown],
      ['a step', 'for update', 'STORE_FAILED', sendUnknown],
      ['the commit of a step', '\0commit\0', 'STORE_FAILED', sendUnknown],
      ['a statement outside of a transaction', 'payment_outbox_', 'STORE_FAILED', getUnknown],
    ])('works again after it is lost under %s', async (_what, at, code, run) => {
      cutter.cutAt(at, lose);
      await expect(run()).rejects.toMatchObject({ code });
      expect(cutter.isCut()).toBe(true);
      for (const minute of [1, 2]) {
        const next = change(event.paymentReference, minute);
        expect(await stores.inbox.process(next, nothing)).toBe('processed');
        expect(await getUnknown()).toBeUndefined();
      }
    });
  });

  it('rolls back at once when the work fails with the code of another connection', async () => {
    const refused = Object.assign(new Error('no route'), { code: 'ECONNREFUSED' });
    const patient = postgresInbox(opened.provider, { commandTimeoutMs: 10_000_000 });
    const failing = patient.process(event, () => Promise.reject(refused));
    await expect(failing).rejects.toBe(refused);
  });
});
