import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe } from 'vitest';
import { redisStore } from '../../src/redis/index.js';
import { databaseForms } from '../../src/store/sql/sql.js';
import {
  type ConnectedClient,
  plainKinds,
  upstashKind,
  redisUrl as url,
} from '../redis/clients.js';
import { describeCallbackStore } from './store.js';

describe.skipIf(!url).each([...plainKinds, upstashKind])('$name:', ({ connect }) => {
  describeCallbackStore('redisStore', () => {
    const prefix = `store-contract-${randomUUID()}:`;
    const admin = new Redis(url, { lazyConnect: true });
    const clients: ConnectedClient[] = [];
    beforeAll(() => admin.connect());
    afterAll(async () => {
      for (const { close } of clients) close();
      const keys = await admin.keys(`${prefix}*`);
      if (keys.length > 0) await admin.unlink(...keys);
      admin.disconnect();
    });
    const open = async (leaseMs?: number) => {
      const connected = await connect(url);
      clients.push(connected);
      return redisStore(connected.client, { prefix, leaseMs });
    };
    return {
      create: () => open(),
      withLease: open,
      waitMs: 0,
      async loseClaim({ payment }) {
        const hash = `${prefix}{${databaseForms.toName(payment.merchantPaymentReference)}}`;
        // Another owner: a holder that still lives could renew a claim that has only expired.
        await admin.hset(hash, { owner: 'nobody', until: 0 });
      },
    };
  });
});
