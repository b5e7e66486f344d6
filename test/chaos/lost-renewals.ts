import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { CallbackInbox } from '../../src/store/inbox.js';
import type { IoredisClient } from '../../src/redis/client.js';
import { redisInbox } from '../../src/redis/redis-inbox.js';
import { RENEW } from '../../src/redis/scripts.js';
import { toStoredName } from '../../src/store/stored-name.js';
import { LEASE_MS } from './timing.js';

export interface LostRenewalsOptions {
  readonly inboxClient: Redis;
  /** For what this notes itself. */
  readonly client: Redis;
  /** Told what no inbox may do. */
  onMistake(mistake: string): void;
}

/**
 * A Redis inbox on a network that swallows the renewals of a few works, so that their holder loses
 * its lease and lives.
 *
 * A process that is stopped and goes on would lose it too, but also write late in the midst of its
 * other works, for which no inbox without a transaction can be blamed. This holder's writes are all
 * done: it has but to tell the inbox how the work ended, which the inbox must not believe.
 */
export function inboxWithLostRenewals(options: LostRenewalsOptions): CallbackInbox {
  const { inboxClient, client, onMistake } = options;
  const lost = new Set<string>();
  const losingClient: IoredisClient = {
    evalsha: async (sha1, keys, ...args) =>
      sha1 === (await RENEW.sha1()) && [...lost].some((name) => args[0]?.endsWith(name))
        ? new Promise<never>(() => {})
        : inboxClient.evalsha(sha1, keys, ...args),
    eval: (source, keys, ...args) => inboxClient.eval(source, keys, ...args),
  };
  const inbox = redisInbox(losingClient, { leaseMs: LEASE_MS, commandTimeoutMs: 1_000 });

  /** Whether another work of the payment began while the renewals were lost. */
  const loseLease = async (reference: string, begun: number): Promise<boolean> => {
    const name = `{${toStoredName(reference)}}`;
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
    async process(event, work) {
      let isOvertaken = false;
      const outcome = await inbox.process(event, async (context) => {
        const begun = await client.incr(`begun:${event.paymentReference}`);
        await work(context);
        if (Math.random() >= 0.04) return;
        isOvertaken = await loseLease(event.paymentReference, begun);
        if (Math.random() < 0.5) throw new Error('the work failed late');
      });
      if (isOvertaken && outcome === 'processed') {
        onMistake('a holder that another had overtaken was told that it processed the event');
      }
      return outcome;
    },
  };
}
