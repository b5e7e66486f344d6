import { randomUUID } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import { type ClaimAnswer, isClaimAnswer, isClaimed } from '../claim-answer.js';
import { type CallbackInbox, toEpochMicroseconds } from '../inbox.js';
import { type Lease, runUnderLease } from '../lease.js';
import { toStoredName } from '../stored-name.js';
import { answerWithin, retryUntil } from './answer.js';
import { createScriptRunner, type RedisClient } from './client.js';
import { type RedisInboxOptions, resolveOptions } from './options.js';
import { CLAIM, FINISH, RELEASE, RENEW, type Script } from './scripts.js';

/**
 * An inbox in Redis 5 or later, or Valkey, for any number of processes: at least once (interface
 * section 6). A process that dies leaves its claim to expire after `leaseMs`, and the next delivery
 * runs `work` again; so does one that Redis could not be told of for as long as the lease lived
 * after the work was done.
 *
 * What a 200 promises is as durable as Redis' append-only file. Set `maxmemory-policy noeviction`,
 * or what was processed may be forgotten before `retentionMs`. Replication is asynchronous: a
 * failover can lose a claim, or the note that a change was processed, and `work` runs again.
 * Commands are scripts of one key on the server's clock, so a cluster needs nothing further.
 *
 * While a change of a payment is being processed, every callback for that payment that is neither
 * `duplicate` nor `stale` is `busy`. A claim has no expiry in Redis, so nothing evicts it; one left
 * by a process that died stays until a callback for its payment comes again.
 *
 * `process` rejects with an {@link InboxError}: `INBOX_TIMEOUT` when Redis does not answer within
 * `commandTimeoutMs`, `STORE_FAILED` when it or the client fails, `LEASE_LOST` when another process
 * took over. Recording that the work is done is tried again until the lease has expired. A claim that
 * is answered when half of its lease is over is renewed before `work` runs, or else given back, and
 * the callback is `busy`.
 *
 * @param client - of ioredis (its Cluster too) or redis (node-redis: client, pool, cluster,
 * sentinel), connected or connecting; not closed by the inbox
 * @throws {InvalidOptionError} when the client or an option can't be right
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { redisInbox } from 'merchant-payments/inbox/redis';
 *
 * const inbox = redisInbox(new Redis('redis://127.0.0.1:6379'), { prefix: 'shop:payments:' });
 * ```
 */
export function redisInbox(client: RedisClient, options: RedisInboxOptions = {}): CallbackInbox {
  const runScript = createScriptRunner(client);
  const { prefix, leaseMs, renewForMs, retentionMs, commandTimeoutMs } = resolveOptions(options);
  const lease = String(leaseMs);
  const retention = String(retentionMs);

  return {
    async process(event, work) {
      const hash = `${prefix}{${toStoredName(event.paymentReference)}}`;
      const key = toStoredName(event.key);
      const occurredAt = String(toEpochMicroseconds(event));
      // Not a counter in the hash: it would begin again once the hash is deleted, and let in a late
      // finisher that had the same number before.
      const owner = randomUUID();
      const run = (script: Script, ...args: string[]) => runScript(script, hash, args);
      const runInTime = (script: Script, ...args: string[]) =>
        answerWithin(commandTimeoutMs, run(script, ...args));

      const askedAtMs = performance.now();
      let confirmedAtMs = askedAtMs;
      const claim: Lease = {
        durationMs: leaseMs,
        renewForMs,
        askedAtMs,
        async renew() {
          const renewingAtMs = performance.now();
          const renewed = (await runInTime(RENEW, owner, lease)) === '1';
          if (renewed) confirmedAtMs = renewingAtMs;
          return renewed;
        },
        finish: () =>
          retryUntil(confirmedAtMs + leaseMs, async () => {
            return (await runInTime(FINISH, owner, key, occurredAt, retention)) === '1';
          }),
        async release() {
          await runInTime(RELEASE, owner, retention);
        },
      };

      const answer = run(CLAIM, owner, key, occurredAt, event.processStale ? '1' : '0', lease);
      const text = await answerWithin(commandTimeoutMs, answer).catch((error: unknown) => {
        giveBackLater(answer, claim);
        throw error;
      });
      const found = toClaimAnswer(text);
      if (!isClaimed(found)) return found;
      const stale = found === 'claimed-stale';
      return runUnderLease(claim, (signal) => work({ tx: undefined, signal, stale }));
    },
  };
}

/** A claim may be granted after nobody waits for it any more, or have been, with the answer lost. */
function giveBackLater(answer: Promise<string>, claim: Lease): void {
  const release = () => claim.release();
  answer.then(release, release).catch(() => undefined);
}

function toClaimAnswer(answer: string): ClaimAnswer {
  if (isClaimAnswer(answer)) return answer;
  throw new InvalidOptionError(
    'client',
    'client must answer EVALSHA with what the script returns, but something else was received: pass the client itself, of ioredis or redis (node-redis), not a pipeline or transaction of it',
  );
}
