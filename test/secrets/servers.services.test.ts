import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/index.js';
import { postgresStore } from '../../src/postgres/index.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import type { StoreOptions } from '../../src/store/options.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { failureOf } from '../callback/sample-callback.js';
import { useDatabase } from '../mysql/server.js';
import { useEmptySchema } from '../services/postgres-schema.js';
import { customer } from './planted.js';
import { receiveBy } from './walks/store-callbacks.js';
import { createClient, order, tellOfSecond, use } from './walks/store-payments.js';
import { createWatch, type See } from './watch.js';

const { leaksOf, seen } = createWatch();
type Client = NonNullable<StoreOptions['client']>;

interface Server<Tx> {
  open(client: Client): PaymentStore<Tx>;
  /** A statement that breaks the transaction, with an error that the driver fills. */
  breakWork(tx: Tx): Promise<unknown>;
  /** A statement that ends its own connection. */
  loseConnection(tx: Tx): Promise<unknown>;
}

/** A store on a real server: before its tables are there, while it is used, and when the work breaks a transaction. */
function itShowsNothing<Tx>({ open, breakWork, loseConnection }: Server<Tx>): void {
  const walk = (scene: (see: See, store: PaymentStore<Tx>) => Promise<void>) => async () => {
    const before = seen.things;
    expect(await leaksOf((see) => scene(see, open(createClient())))).toEqual([]);
    expect(seen.things).toBeGreaterThan(before);
  };

  it(
    'without its tables',
    walk(async (see, store) => {
      see('missing tables', await failureOf(() => store.create(order)));
      await receiveBy(see, store as CallbackStore<Tx>);
      await store.setup();
    }),
  );

  it(
    'while payments fail in every way, and a second one is reported',
    walk(async (see, store) => {
      await use(see, store);
      await tellOfSecond(see, store);
    }),
  );

  it('while callbacks come', walk(receiveBy));

  const goesOn = (statement: (tx: Tx) => Promise<unknown>) =>
    walk(async (see, store) => {
      const work = async ({ tx }: { tx: Tx }) => void (await statement(tx).catch(() => undefined));
      await receiveBy(see, store, work as never);
    });
  it('when the work breaks its transaction and goes on', goesOn(breakWork));
  it('when the connection is lost and the work goes on', goesOn(loseConnection));
}

describe.skipIf(!process.env['DATABASE_URL'])(
  'no secret and no body is shown by a store in Postgres',
  () => {
    const { openPool } = useEmptySchema('mp_secrets');
    itShowsNothing({
      open: (client) => postgresStore(openPool({ max: 4 }), { client }),
      breakWork: (tx) => tx.query(`SELECT '${customer}'::int`),
      loseConnection: (tx) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
    });
  },
);

describe.skipIf(!process.env['MYSQL_URL'])(
  'no secret and no body is shown by a store in MySQL',
  () => {
    const { openPool } = useDatabase('mp_secrets');
    const prefix = 'secrets_';
    itShowsNothing({
      open: (client) => mysqlStore(openPool({ connectionLimit: 4 }), { client, prefix }),
      // Ends the transaction without an error.
      breakWork: (tx) => tx.query(`CREATE TABLE \`${customer}\` (a int)`),
      loseConnection: (tx) => tx.query('KILL CONNECTION_ID()'),
    });
  },
);
