import type { PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe } from 'vitest';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { mysqlOutbox } from '../../src/mysql/outbox-mysql-outbox.js';
import { providers } from '../inbox/mysql/providers/providers.js';
import { killIdleTransaction } from '../inbox/mysql/server.js';
import type { OpenProvider } from '../inbox/postgres/providers/providers.js';
import { useDatabase } from '../outbox/mysql/server.js';
import { unusedClient } from '../outbox/unused-client.js';
import { inDatabase } from '../services/mysql-url.js';
import { describeInboxContract, type InboxUnderTest } from './inbox.js';
import { describeOutboxContract } from './outbox.js';

const url = process.env['MYSQL_URL'] ?? '';
const waitMs = 1_000;
const options = { lockTimeoutMs: waitMs, keepBodies: true };
const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };

type Server = ReturnType<typeof useDatabase>;

const inboxOn = ({ observer, database }: Server, create: InboxUnderTest['create']) => ({
  create,
  waitMs,
  keepsFailures: true,
  keepsBodies: true,
  // A case that calls this has one delivery under way.
  loseClaim: () => killIdleTransaction(observer, database),
});

const otherDefaults = [
  "SET SESSION sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,TRADITIONAL,ONLY_FULL_GROUP_BY'",
  'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
  'SET SESSION TRANSACTION READ ONLY',
  "SET SESSION time_zone = '+05:30'",
  'SET SESSION completion_type = 1',
  'SET NAMES latin1',
  'SET SESSION autocommit = 0',
];

describe.skipIf(url === '')('on a server,', () => {
  describe.each([
    ['mysql2', true],
    ['mysql2 without the procedures', false],
  ])('%s:', (_, hasProcedures) => {
    const server = useDatabase(`inbox_contract_${hasProcedures}`);
    const pool = server.openPool();
    beforeAll(async () => {
      if (hasProcedures) return;
      for (const name of ['claim', 'record']) {
        await pool.query(`DROP PROCEDURE payment_inbox_${name}_v1`);
      }
    });
    describeInboxContract('mysqlInbox', () => inboxOn(server, () => mysqlInbox(pool, options)));
  });

  describe.each([
    ['mysql2', []],
    ['mysql2 with other defaults of the session', otherDefaults],
  ])('%s:', (_, statements) => {
    const server = useDatabase(`outbox_contract_${statements.length}`);
    const pool = server.openPool({}, statements);
    describeOutboxContract<PoolConnection>('mysqlOutbox', () => ({
      ...server,
      create: (client) => mysqlOutbox<PoolConnection>(pool, { client }),
    }));
  });

  describe.each(Object.entries(providers))('%s:', (name, open) => {
    const server = useDatabase(`contract_on_${Object.keys(providers).indexOf(name)}`);
    let opened: OpenProvider;
    beforeAll(async () => {
      opened = await open(inDatabase(url, server.database));
      await mysqlInbox(opened.provider, { prefix: 'own_inbox_' }).setup();
      await mysqlOutbox(opened.provider, { client: unusedClient, prefix: 'own_outbox_' }).setup();
    });
    afterAll(() => opened.close());
    describeInboxContract('mysqlInbox', () =>
      inboxOn(server, () => mysqlInbox(opened.provider, options)),
    );
    describeOutboxContract('mysqlOutbox', () => ({
      create: (client) => mysqlOutbox(opened.provider, { client }),
      transaction: async (body) => void (await opened.provider.transaction(body, limits)),
      loseLease: server.loseLease,
    }));
  });
});
