import type { PGlite } from '@electric-sql/pglite';
import { Redis } from 'ioredis';
import { mysqlStore } from '../../../src/mysql/index.js';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
  postgresStore,
} from '../../../src/postgres/index.js';
import { redisStore } from '../../../src/redis/index.js';
import { sqliteStore } from '../../../src/sqlite/index.js';
import { memoryStore } from '../../../src/store/memory.js';
import { failureOf } from '../../callback/sample-callback.js';
import { emptyPglite } from '../../pglite.js';
import { apiSecret, customer } from '../planted.js';
import type { Walk, Walks } from '../watch.js';
import {
  connectRedis,
  failingDatabase,
  failingPool,
  redisServers,
  SILENT,
} from './failing-servers.js';
import { signingSecrets } from './signed-callback.js';
import { keepFailures, receiveBy } from './store-callbacks.js';
import { createClient, order, said, tellOfSecond, use } from './store-payments.js';

const providers: Record<string, (value: never) => unknown> = {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
};

const wrongOptions: readonly [string, (value: never) => unknown][] = [
  ['memoryStore', (value) => memoryStore({ maxEntries: value } as never)],
  ['the options of memoryStore', (value) => memoryStore(value)],
  ['the client of redisStore', (value) => redisStore(value)],
  [
    'the prefix of redisStore',
    (value) => redisStore(new Redis({ lazyConnect: true }), { prefix: `{${String(value)}}` }),
  ],
  ['the pool of postgresStore', (value) => postgresStore(value)],
  ...Object.entries(providers),
  ['the pool of mysqlStore', (value) => mysqlStore(value)],
  ['the database of sqliteStore', (value) => sqliteStore(value)],
];

function refusing(name: string): Walk {
  return async (see) => {
    for (const [what, create] of wrongOptions.filter(([of]) => of.includes(name))) {
      const error = await failureOf(() => {
        create(apiSecret as never);
        create({ password: apiSecret } as never);
        throw new TypeError('it was taken');
      });
      if (!(error instanceof TypeError)) see(`the error for ${what}`, error);
    }
    see('the end', name);
  };
}

const neverConnecting = () => new Promise<never>(() => undefined);

export const storeWalks: Walks = {
  './store memoryStore': {
    'while callbacks come': (see) => receiveBy(see, memoryStore()),
    'while callbacks come to one that creates payments': (see) =>
      receiveBy(see, memoryStore({ client: createClient() })),
    'when it keeps what failed': async (see) => {
      for (const secret of Object.values(signingSecrets)) await keepFailures(see, secret);
    },
    'payments that fail in every way, and a second one': async (see) => {
      const store = memoryStore({ client: createClient() });
      await use(see, store);
      await tellOfSecond(see, store);
    },
    'when it is refused': refusing('memoryStore'),
  },
  './redis redisStore': {
    ...Object.fromEntries(
      Object.entries(redisServers).map(([what, answer]): [string, Walk] => [
        `with a server ${what}`,
        async (see) => {
          const client = await connectRedis(answer);
          // Where an answer comes, a busy machine may take its time.
          const commandTimeoutMs = what === SILENT ? 20 : 29_000;
          await receiveBy(see, redisStore(client, { commandTimeoutMs }));
        },
      ]),
    ),
    'when it is refused': refusing('redisStore'),
  },
  './postgres postgresStore': {
    'callbacks without its tables': async (see) =>
      receiveBy(see, postgresStore(await emptyPglite())),
    'while callbacks come': async (see) => {
      const store = postgresStore(await emptyPglite());
      await store.setup();
      await receiveBy(see, store);
    },
    'when the work breaks its transaction': async (see) => {
      const database = await emptyPglite();
      const store = postgresStore(database);
      await store.setup();
      await database.exec('CREATE TABLE orders (reference text PRIMARY KEY)');
      await receiveBy(see, store, (async ({ tx }: { tx: { query: PGlite['query'] } }) => {
        await tx.query('INSERT INTO orders VALUES ($1)', [customer]);
        // The driver's error holds the row; that it goes on hides it from the store.
        await tx.query('INSERT INTO orders VALUES ($1)', [customer]).catch(() => undefined);
      }) as never);
    },
    'payments that fail in every way, and a database without tables': async (see) => {
      const store = postgresStore(await emptyPglite(), { client: createClient() });
      see('missing tables', await failureOf(() => store.create(order)));
      await store.setup();
      await use(see, store);
      await tellOfSecond(see, store);
    },
    'with a pool that gives no connection': async (see) => {
      const pool = { password: apiSecret, connect: neverConnecting };
      const store = postgresStore(pool, { client: createClient(), acquireTimeoutMs: 1 });
      see('the store', store);
      see('the failure', await failureOf(() => store.create(order)));
      await receiveBy(see, store);
    },
    'when it is refused': refusing('postgresStore'),
  },
  './mysql mysqlStore': {
    'callbacks with a server that fails': async (see) => {
      const store = mysqlStore(failingPool as never);
      see('the error of setup()', await failureOf(() => store.setup()));
      await receiveBy(see, store);
    },
    'payments with a server that says what it was sent': async (see) => {
      const connection = {
        ...(await failingPool.getConnection()),
        async query({ sql }: { sql: string }): Promise<never> {
          const failure = { errno: 1064, code: 'ER_PARSE_ERROR', sqlState: '42000' };
          const sqlMessage = `near ${sql} ${said}`;
          throw Object.assign(new Error(sqlMessage), { ...failure, sqlMessage, sql });
        },
      };
      const pool = { password: apiSecret, getConnection: async () => connection };
      const store = mysqlStore(pool as never, { client: createClient() });
      see('the store', store);
      see('the failure of setup', await failureOf(() => store.setup()));
      see('the failure of create', await failureOf(() => store.create(order)));
      const recording = () => store.record(order, { tx: connection as never });
      see('the failure of record', await failureOf(recording));
      await receiveBy(see, store);
    },
    'with a pool that gives no connection': async (see) => {
      const pool = { password: apiSecret, getConnection: neverConnecting };
      const store = mysqlStore(pool, { client: createClient(), acquireTimeoutMs: 1 });
      see('the failure', await failureOf(() => store.create(order)));
      await receiveBy(see, store);
    },
    'when it is refused': refusing('mysqlStore'),
  },
  ...Object.fromEntries(
    Object.keys(providers).map((name): [string, Walks[string]] => [
      `./postgres ${name}`,
      { 'when it is refused': refusing(name) },
    ]),
  ),
  './sqlite sqliteStore': {
    'with a database that fails': async (see) => {
      const store = sqliteStore(failingDatabase, { client: createClient() });
      see('the store', store);
      see('the failure of setup', await failureOf(() => store.setup()));
      see('the failure of create', await failureOf(() => store.create(order)));
      await receiveBy(see, store);
    },
    'when it is refused': refusing('sqliteStore'),
  },
};
