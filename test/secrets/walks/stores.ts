import type { PGlite } from '@electric-sql/pglite';
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
import { connectRedis, failingDatabase, redisServers, SILENT } from './failing-servers.js';
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

/** Whether it is taken or not, a secret in the place of a pool or a client is not shown. */
const refusing =
  (create: (value: never) => unknown): Walk =>
  async (see) => {
    for (const value of [apiSecret, { password: apiSecret }]) {
      see(
        'the error',
        await Promise.resolve(value as never)
          .then(create)
          .catch((error) => error),
      );
    }
  };

const neverConnecting = () => new Promise<never>(() => undefined);

export const storeWalks: Walks = {
  './store memoryStore': {
    'while callbacks come': (see) => receiveBy(see, memoryStore()),
    'when it keeps what failed': async (see) => {
      for (const secret of Object.values(signingSecrets)) await keepFailures(see, secret);
    },
    'payments that fail in every way, and a second one': async (see) => {
      const store = memoryStore({ client: createClient() });
      await use(see, store);
      await tellOfSecond(see, store);
    },
    'when it is refused': refusing(memoryStore),
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
    'when it is refused': refusing(redisStore),
  },
  './postgres postgresStore': {
    'when the work breaks its transaction': async (see) => {
      const store = postgresStore(await emptyPglite());
      await store.setup();
      await receiveBy(see, store, (async ({ tx }: { tx: Pick<PGlite, 'query'> }) => {
        // The driver's error holds the value; that the work goes on hides it from the store.
        await tx.query(`SELECT '${customer}'::int`).catch(() => undefined);
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
    'when it is refused': refusing(postgresStore),
  },
  './mysql mysqlStore': {
    'payments with a server that says what it was sent': async (see) => {
      const connection = {
        async query({ sql }: { sql: string }): Promise<never> {
          const failure = { errno: 1064, code: 'ER_PARSE_ERROR', sqlState: '42000' };
          const sqlMessage = `near ${sql} ${said}`;
          throw Object.assign(new Error(sqlMessage), { ...failure, sqlMessage, sql });
        },
        release: () => undefined,
        destroy: () => undefined,
        on: () => undefined,
        removeListener: () => undefined,
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
    'when it is refused': refusing(mysqlStore),
  },
  ...Object.fromEntries(
    Object.entries(providers).map(([name, from]): [string, Walks[string]] => [
      `./postgres ${name}`,
      { 'when it is refused': refusing(from) },
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
    'when it is refused': refusing(sqliteStore),
  },
};
