import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../../src/postgres/inbox-postgres-inbox.js';
import { postgresOutbox } from '../../../src/postgres/outbox-postgres-outbox.js';
import { type OpenProvider, providers } from '../../inbox/postgres/providers/providers.js';
import { describeProvider } from '../provider-cases.js';
import { unusedClient } from '../unused-client.js';
import { useSchema } from './server.js';

const url = process.env['DATABASE_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))('an outbox on %s', (_, open) => {
  const { schema } = useSchema();
  let opened: OpenProvider;
  beforeAll(async () => {
    opened = await open(url, schema);
  });
  afterAll(() => opened.close());

  describeProvider({
    provider: () => opened.provider,
    makeInbox: () => postgresInbox(opened.provider),
    makeOutbox: () => postgresOutbox(opened.provider, { client: unusedClient }),
  });
});
