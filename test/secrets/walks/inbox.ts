import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { StoreError } from '../../../src/errors.js';
import type { CallbackStore } from '../../../src/store/callback-store.js';
import { memoryStore } from '../../../src/store/memory.js';
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
import { CLAIM } from '../../../src/redis/scripts.js';
import { sqliteStore } from '../../../src/sqlite/index.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { failureOf, now, sampleRecord } from '../../callback/sample-callback.js';
import { emptyPglite } from '../../pglite.js';
import { apiSecret, customer, signingBytes, signingText } from '../planted.js';
import type { See, Walk, Walks } from '../watch.js';
import { body, type PlantedSecret, record, signed, signingSecrets } from './signed-callback.js';

// An inbox is handed no secret and no body. What it is handed, and what it says when its store fails
// with all that drivers add to their errors, is looked at all the same.

type Work = Parameters<CallbackStore<never>['process']>[1];

/** Callbacks of a planted payment through an inbox, with work that is done and that fails. */
async function receiveBy<Tx>(see: See, store: CallbackStore<Tx>, work?: Work): Promise<void> {
  see('the inbox', inbox);
  const looking: CallbackStore<Tx> = {
    process(event, run) {
      see('the event', event);
      return inbox.process(event, run);
    },
    failedChanges: inbox.failedChanges?.bind(inbox),
    discard: inbox.discard?.bind(inbox),
  };
  let count = 0;
  const receiver = createCallbackReceiver<Tx>({
    now,
    signingSecret: signingText,
    store: looking,
    onError: (error) => see('what onError receives', error),
    onPayment: async (_callback, context) => {
      count += 1;
      if (count === 1) throw new Error('the first try fails');
      await work?.(context as never);
    },
  });
  const stale = { ...record, updatedAt: sampleRecord().createdAt, status: 'pending' };
  for (const rawBody of [JSON.stringify(record), JSON.stringify(record), JSON.stringify(stale)]) {
    const request = { method: 'POST', ...signed(signingText, { rawBody }) };
    see('the reply', await receiver.receive(request));
    see('the reply to a copy', await receiver.receive(request));
  }
  see('the inbox after its use', inbox);
}

/** Changes that fail with an error that shows all there is, are parked, blocked, replayed and listed. */
async function keepFailures(see: See, signingSecret: PlantedSecret): Promise<void> {
  const bytes = signingSecret instanceof Uint8Array ? signingSecret : signingBytes;
  const secrets = [signingText, bytes.toString('hex'), bytes.toString('base64')];
  // With the body, a message is withheld whatever its secrets are.
  const messages = [secrets.join(' '), [body, ...secrets, customer].join(' ')];
  const scenes = messages.flatMap((message) =>
    [false, true].map((keepBodies) => ({ keepBodies, message })),
  );
  const receivers = scenes.map(({ keepBodies, message }) => {
    const inbox = memoryStore({ keepBodies });
    const receiver = createCallbackReceiver({
      now,
      signingSecret: [signingSecret, signingText, signingBytes],
      inbox,
      parkAfter: 1,
      blockParked: true,
      // What the merchant's own code throws reaches onError as it is.
      onError(error) {
        if (error instanceof StoreError) see('what onError receives', error);
      },
      onPayment: () => Promise.reject(Object.assign(new Error(message), { code: signingText })),
    });
    return { inbox, receiver };
  });
  const later = { ...record, updatedAt: '2026-01-31T12:00:06.000+00:00', status: 'settled' };
  for (const { inbox, receiver } of receivers) {
    for (const rawBody of [body, body, JSON.stringify(later)]) {
      const request = { method: 'POST', ...signed(signingSecret, { rawBody }) };
      see('the reply', await receiver.receive(request));
    }
    for await (const change of inbox.failedChanges()) {
      see('the kept error', change.error);
      // The body is kept where the merchant says so.
      if (change.rawBody === undefined) see('the change', change);
      see('the replay', await receiver.replay(change).catch((error: unknown) => error));
    }
    see('the inbox', inbox);
    see('the receiver', receiver);
  }
}

/** A real client of a server with scripted answers. */
async function connectRedis(answer: (socket: Socket, command: string) => void): Promise<Redis> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      // Several may come at once, and each waits for a separate answer.
      for (const command of data.toString().split(/(?<=\r\n)(?=\*\d+\r\n\$)/)) {
        answer(socket, command);
      }
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new Redis({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    password: apiSecret,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  onTestFinished(() => {
    client.disconnect();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return client;
}

/** `OK` to what connecting takes, and `reply` to a script. */
const replying =
  (reply: (command: string) => string) =>
  (socket: Socket, command: string): void => {
    if (!/eval/i.test(command)) socket.write('+OK\r\n');
    else socket.write(reply(command));
  };

const SILENT = 'that does not answer';
const claim = await CLAIM.sha1();

const redisStores: Record<string, (socket: Socket, command: string) => void> = {
  'that answers with an error': replying(() => '-ERR out of memory\r\n'),
  'that repeats what it was sent': (socket, command) => {
    const words = command.split('\r\n').filter((word) => !/^[*$]/.test(word));
    const args = words.slice(1).map((word) => `'${word}'`);
    socket.write(
      `-ERR unknown command '${words[0]}', with args beginning with: ${args.join(' ')}\r\n`,
    );
  },
  [SILENT]: (socket, command) => {
    if (!/eval/i.test(command)) socket.write('+OK\r\n');
  },
  'that answers nonsense': replying(() => `+${customer}\r\n`),
  'that gave the claim to another': replying((command) =>
    command.includes(claim) ? '+claimed\r\n' : ':0\r\n',
  ),
  'that goes away': (socket) => socket.destroy(),
};

/** A database whose driver adds to its errors what was sent, as they do. */
export const failingDatabase = {
  exec(sql: string): never {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR', sql });
  },
  prepare: () => ({ run: () => ({ changes: 0 }), get: () => undefined, all: () => [] }),
};

/** A pool whose driver adds to its errors what was sent, as mysql2 does. */
export const failingPool = {
  async getConnection() {
    return {
      async query({ sql }: { sql: string }): Promise<never> {
        const server = { errno: 1406, code: 'ER_DATA_TOO_LONG', sqlState: '22001' };
        throw Object.assign(new Error('Data too long'), { ...server, sqlMessage: 'too long', sql });
      },
      release: () => undefined,
      destroy: () => undefined,
      on: () => undefined,
      removeListener: () => undefined,
    };
  },
};

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

export const inboxWalks: Walks = {
  './inbox memoryStore': {
    'while it is used': (see) => receiveBy(see, memoryStore()),
    'when it keeps what failed': async (see) => {
      for (const secret of Object.values(signingSecrets)) await keepFailures(see, secret);
    },
    'when it is refused': refusing('memoryStore'),
  },
  './inbox/redis redisStore': {
    ...Object.fromEntries(
      Object.entries(redisStores).map(([what, answer]): [string, Walk] => [
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
  './inbox/postgres postgresStore': {
    'without its tables': async (see) => receiveBy(see, postgresStore(await emptyPglite())),
    'while it is used': async (see) => {
      const inbox = postgresStore(await emptyPglite());
      await inbox.setup();
      await receiveBy(see, inbox);
    },
    'when the work breaks its transaction': async (see) => {
      const database = await emptyPglite();
      const inbox = postgresStore(database);
      await inbox.setup();
      await database.exec('CREATE TABLE orders (reference text PRIMARY KEY)');
      await receiveBy(see, inbox, (async ({ tx }: { tx: { query: PGlite['query'] } }) => {
        await tx.query('INSERT INTO orders VALUES ($1)', [customer]);
        // The driver's error holds the row; that it goes on hides it from the inbox.
        await tx.query('INSERT INTO orders VALUES ($1)', [customer]).catch(() => undefined);
      }) as never);
    },
    'when it is refused': refusing('postgresStore'),
  },
  './inbox/mysql mysqlStore': {
    'with a server that fails': async (see) => {
      const inbox = mysqlStore(failingPool as never);
      see('the error of setup()', await failureOf(() => inbox.setup()));
      await receiveBy(see, inbox as never);
    },
    'when it is refused': refusing('mysqlStore'),
  },
  ...Object.fromEntries(
    Object.keys(providers).map((name): [string, Walks[string]] => [
      `./inbox/postgres ${name}`,
      { 'when it is refused': refusing(name) },
    ]),
  ),
  './inbox/sqlite sqliteStore': {
    'with a database that fails': async (see) => {
      const inbox = sqliteStore(failingDatabase);
      see('the error of setup()', await failureOf(() => inbox.setup()));
      await receiveBy(see, inbox);
    },
    'when it is refused': refusing('sqliteStore'),
  },
};
