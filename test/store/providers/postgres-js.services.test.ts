import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import type { StatusChange } from '../../../src/store/callback-store.js';
import { change, nothing } from '../../postgres/change.js';
import { type OpenProvider, providers } from '../../postgres/providers/providers.js';
import { useSchema } from '../../postgres/server.js';
import { type SwallowingProxy, startSwallowingProxy } from '../../postgres/swallowing-proxy.js';
import { outcomeOf } from '../outcome-of.js';
import { unusedClient } from '../unused-client.js';

const url = process.env['DATABASE_URL'] ?? '';

const WAYS: Readonly<Record<string, (client: Socket) => void>> = {
  reset: (client) => client.resetAndDestroy(),
  closed: (client) => client.destroy(),
};

const onPostgresJs = Object.entries(providers).filter(([name]) => name.includes('postgres.js'));

describe.skipIf(url === '').each(onPostgresJs)('%s', (name, open) => {
  const { schema } = useSchema(`mp_cut_${name.replaceAll(/\W/g, '_').toLowerCase()}`);
  let cutter: SwallowingProxy;
  let opened: OpenProvider;
  const openStore = () => postgresStore(opened.provider, { client: unusedClient });
  let store: ReturnType<typeof openStore>;
  let event: StatusChange;
  beforeAll(async () => {
    cutter = await startSwallowingProxy(url);
  });
  afterAll(() => cutter.close());
  beforeEach(async () => {
    // With one connection, what follows is on the successor of the lost one.
    opened = await open(cutter.url, schema, { max: 1 });
    store = openStore();
    event = change(randomUUID());
  });
  afterEach(() => opened.close());

  const sends = (tx: unknown) => opened.send(tx, "SELECT 'of the work'");
  const deliver = (work: (tx: unknown) => Promise<unknown>) =>
    outcomeOf(store, event, async ({ tx }) => void (await work(tx)));

  const outOfStock = Object.assign(new Error('out of stock'), { code: 'OUT_OF_STOCK' });
  const sendUnknown = () => store.send('unknown');
  const getUnknown = () => store.get('unknown');

  describe.each(Object.entries(WAYS))('whose connection is %s', (_way, lose) => {
    it.each<[string, string, string, () => Promise<unknown>]>([
      ['the begin of a delivery', 'isolation level', 'processed', () => deliver(nothing)],
      ['a claim', 'for update', 'processed', () => deliver(nothing)],
      // The driver's own error, which Drizzle wraps, or the loss, whichever comes first.
      [
        'a statement of the work',
        'of the work',
        'ECONNRESET|CONNECTION_CLOSED|undefined|TRANSACTION_LOST',
        () => deliver(sends),
      ],
      [
        'a statement of the work, which throws an error of its own',
        'of the work',
        'OUT_OF_STOCK|TRANSACTION_LOST',
        () => deliver((tx) => sends(tx).catch(() => Promise.reject(outOfStock))),
      ],
      [
        'the record of a change',
        'latest_rank, processed_at_ms',
        'TRANSACTION_LOST',
        () => deliver(nothing),
      ],
      ['the commit of a delivery', '\0commit\0', 'TRANSACTION_LOST', () => deliver(nothing)],
      [
        'the undoing of a delivery',
        '\0rollback\0',
        'OUT_OF_STOCK',
        () => deliver(() => Promise.reject(outOfStock)),
      ],
      ['the begin of a step', 'isolation level', 'UNKNOWN_REFERENCE', sendUnknown],
      ['a step', 'for update', 'STORE_FAILED', sendUnknown],
      ['the commit of a step', '\0commit\0', 'STORE_FAILED', sendUnknown],
      ['a statement outside of a transaction', 'payment_store_', 'nothing', getUnknown],
    ])('works again after it is lost under %s', async (_what, at, outcome, run) => {
      cutter.cutAt(at, lose);
      const ended = run().then(
        (value) => value ?? 'nothing',
        ({ code }) => code,
      );
      expect(String(await ended)).toMatch(new RegExp(`^(?:${outcome})$`));
      expect(cutter.isCut()).toBe(true);
      for (const minute of [1, 2]) {
        const next = change(event.payment.merchantPaymentReference, minute);
        expect(await outcomeOf(store, next, nothing)).toBe('processed');
        expect(await getUnknown()).toBeUndefined();
      }
    });
  });

  it('rolls back at once when the work fails with the code of another connection', async () => {
    const refused = Object.assign(new Error('no route'), { code: 'ECONNREFUSED' });
    const patient = postgresStore(opened.provider, { commandTimeoutMs: 10_000_000 });
    const failing = outcomeOf(patient, event, () => Promise.reject(refused));
    await expect(failing).rejects.toBe(refused);
  });
});
