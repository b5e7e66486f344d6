import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import type { IoredisClient } from '../../src/redis/client.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { RENEW, toRedisName } from '../../src/redis/scripts.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { LEASE_MS } from './timing.js';

export interface LostRenewalsOptions {
  readonly storeClient: Redis;
  /** For what this notes itself. */
  readonly client: Redis;
  /** Told what no store may do. */
  onMistake(mistake: string): void;
}

/**
 * A Redis store on a network that swallows the renewals of a few works, so that their holder loses
 * its lease and lives.
 *
 * A process that is stopped and goes on would lose it too, but also write late in the midst of its
 * other works, for which no store without a transaction can be blamed. This holder's writes are all
 * done: it has but to tell the store how the work ended, which the store must not believe.
 */
export function storeWithLostRenewals(options: LostRenewalsOptions): CallbackStore {
  const { storeClient, client, onMistake } = options;
  const lost = new Set<string>();
  const losingClient: IoredisClient = {
    evalsha: async (sha1, keys, ...args) =>
      sha1 === (await RENEW.sha1()) && [...lost].some((name) => args[0]?.endsWith(name))
        ? new Promise<never>(() => {})
        : storeClient.evalsha(sha1, keys, ...args),
    eval: (source, keys, ...args) => storeClient.eval(source, keys, ...args),
  };
  const store = redisStore(losingClient, { leaseMs: LEASE_MS, commandTimeoutMs: 1_000 });

  /** Whether another work of the order began while the renewals were lost. */
  const loseLease = async (
    { merchantPaymentReference, referenceNumber: reference }: PaymentStatusRecord,
    begun: number,
  ): Promise<boolean> => {
    const name = `{${await toRedisName(merchantPaymentReference)}}`;
    const giveUpAtMs = Date.now() + 2 * LEASE_MS;
    lost.add(name);
    try {
      await client.set(`lost:${reference}`, 1);
      while (Date.now() < giveUpAtMs) {
        if (Number(await client.get(`begun:${reference}`)) !== begun) return true;
        await pause(20);
      }
      return false;
    } finally {
      lost.delete(name);
    }
  };

  return {
    async process(change, work) {
      let isOvertaken = false;
      const result = await store.process(change, async (context) => {
        const begun = await client.incr(`begun:${change.payment.referenceNumber}`);
        await work(context);
        if (Math.random() >= 0.04) return;
        isOvertaken = await loseLease(change.payment, begun);
        if (Math.random() < 0.5) throw new Error('the work failed late');
      });
      if (isOvertaken && result.outcome === 'processed') {
        onMistake('a holder that another had overtaken was told that it processed the change');
      }
      return result;
    },
  };
}
