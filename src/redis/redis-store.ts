import { InvalidOptionError } from '../errors.js';
import {
  matching,
  type OptionRules,
  optional,
  resolveOptions,
  timerMs,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type { CallbackStore, StoreContext } from '../store/callback-store.js';
import { readStatusChange } from '../store/change.js';
import { type Lease, runUnderLease } from '../store/lease/lease.js';
import { WorkContext } from '../store/loss.js';
import {
  answerWithin,
  CLIENTS,
  createScriptRunner,
  type RedisClient,
  retryUntil,
} from './client.js';
import { CLAIM, FINISH, RELEASE, RENEW, toRedisName } from './scripts.js';

/**
 * A store for callbacks in Redis 5 or later, or Valkey, for any number of processes: at least once (interface section 6). If
 * a process dies, or could not record its completed `work` in time, its claim expires after `leaseMs` and the next delivery
 * runs `work` again. It creates no payments and keeps no failures.
 *
 * A 200 is only as durable as Redis' append-only file, and its record may be evicted unless `maxmemory-policy` is
 * `noeviction`. Replication is asynchronous: a failover can lose a claim or the record of a processed change, and `work`
 * then runs again. Each command is a script on one key that uses the server's clock, so a cluster needs no further setup.
 *
 * While a change of an order is being processed, every other callback for that order is `busy`, unless it is a
 * `duplicate`. A claim has no expiry in Redis, so it can't be evicted; one left by a process that died stays until the
 * next callback for its order.
 *
 * `secondPayment` is true only if the order's first payment is paid and this one too: the store does not know which
 * payment you created.
 *
 * `process` rejects with a `StoreError`: `STORE_TIMEOUT` when Redis does not answer within `commandTimeoutMs`,
 * `STORE_FAILED` when Redis or the client fails, `LEASE_LOST` when another process took over. Completed work is recorded
 * again and again until the lease has expired.
 *
 * @param client - a client of ioredis (or its Cluster) or redis (node-redis: client, pool, cluster,
 * sentinel), connected or connecting, or of `@upstash/redis`, over HTTP; not closed by the store
 * @throws {InvalidOptionError} when the client or an option is invalid
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { redisStore } from 'merchant-payments/redis';
 *
 * const store = redisStore(new Redis('redis://127.0.0.1:6379'), { prefix: 'shop:payments:' });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): CallbackStore {
  const runScript = createScriptRunner(client);
  const { prefix, leaseMs, renewForMs, retentionMs, commandTimeoutMs } =
    resolveRedisStoreOptions(options);
  const lease = String(leaseMs);
  const retention = String(retentionMs);

  return {
    async process(change, work) {
      // Read before the caller can change it.
      const { rank, ...read } = readStatusChange(change);
      const [order, reference, key] = await Promise.all([
        toRedisName(read.merchantPaymentReference),
        toRedisName(read.referenceNumber),
        toRedisName(read.key),
      ]);
      const hash = `${prefix}{${order}}`;
      // The fencing token. A counter in the hash would restart once the hash is deleted, and then accept a late
      // finisher with the same number.
      const owner = crypto.randomUUID();
      const run = (script: string, ...args: string[]) => runScript(script, hash, args);
      const runInTime = (script: string, ...args: string[]) =>
        answerWithin(commandTimeoutMs, run(script, ...args));

      const askedAtMs = performance.now();
      let confirmedAtMs = askedAtMs;
      const release = async (): Promise<void> => void (await runInTime(RELEASE, owner, retention));
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
            const change = [reference, key, rank];
            return (await runInTime(FINISH, owner, ...change, retention)) === '1';
          }),
        async fail(error) {
          // The work's error matters more; a lease that can't be released will expire.
          await release().catch(() => undefined);
          return { outcome: 'failed', error };
        },
        release,
      };

      const isPaid = read.isPaid ? '1' : '0';
      const answer = run(CLAIM, owner, reference, key, rank, isPaid, lease);
      const text = await answerWithin(commandTimeoutMs, answer).catch((error: unknown) => {
        // The claim may be granted later, or its answer may have been lost.
        answer.then(release, release).catch(() => undefined);
        throw error;
      });
      const found = readAnswer(text);
      if (typeof found === 'string') return { outcome: found };
      const context = { ...found, order: read.merchantPaymentReference };
      return runUnderLease(claim, (signal) =>
        work(new WorkContext(undefined, context, { signal })),
      );
    },
  };
}

type Granted = Pick<StoreContext<undefined>, 'current' | 'secondPayment'>;

/**
 * Reads the answer to a claim.
 *
 * @throws {InvalidOptionError} for any other answer, which must not run the work
 */
function readAnswer(answer: string): Granted | 'duplicate' | 'busy' {
  if (answer === 'duplicate' || answer === 'busy') return answer;
  const [, current, second] = /^claimed:([01])([01])$/.exec(answer) ?? [];
  if (current !== undefined) return { current: current === '1', secondPayment: second === '1' };
  throw new InvalidOptionError(
    'client',
    `client must answer EVAL with what the script returns; received something else: pass the client itself, of ${CLIENTS}, not a pipeline or transaction of it`,
  );
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * The prefix of every key. It must not contain braces, which would determine the slot in a cluster.
   * @default 'merchant-payments:'
   */
  prefix?: string | undefined;
  /**
   * How long a claim lasts after the death of its process, in milliseconds, while the order is `busy`. It is renewed while
   * the work runs. A whole number from 100 to 2_147_483_647.
   * @default 30_000
   */
  leaseMs?: number | undefined;
  /**
   * The longest time for which a claim is renewed, in milliseconds. Work that takes longer counts as hung:
   * its signal aborts, and the claim expires within `leaseMs`. A whole number from 1.
   * @default 600_000
   */
  renewForMs?: number | undefined;
  /**
   * How long an order is remembered after its last change, in milliseconds. A callback delivered
   * later is processed again. A whole number from 1.
   * @default 2_592_000_000 (30 days)
   */
  retentionMs?: number | undefined;
  /**
   * The longest time that Redis may take to answer, in milliseconds. While they reconnect, ioredis and
   * node-redis queue commands for minutes or without a limit. A whole number from 1 to 2_147_483_647, below `leaseMs`.
   * @default 5_000, or half of leaseMs when that is less
   */
  commandTimeoutMs?: number | undefined;
}

const milliseconds = wholeNumber({ min: 1, unit: 'milliseconds' });

const rules = {
  prefix: withDefault(
    'merchant-payments:',
    matching<string>(
      'text without braces',
      (prefix: unknown) => typeof prefix === 'string' && !/[{}]/.test(prefix),
    ),
  ),
  leaseMs: withDefault(30_000, timerMs(100)),
  renewForMs: withDefault(600_000, milliseconds),
  retentionMs: withDefault(2_592_000_000, milliseconds),
  commandTimeoutMs: optional(timerMs()),
} satisfies OptionRules<RedisStoreOptions>;

/** @throws {InvalidOptionError} naming the option */
export function resolveRedisStoreOptions(options: RedisStoreOptions) {
  const resolved = resolveOptions(options, rules);
  const { leaseMs, commandTimeoutMs = Math.min(5_000, Math.floor(leaseMs / 2)) } = resolved;
  // If an answer took a whole lease, another process could already have claimed the order.
  if (commandTimeoutMs >= leaseMs) {
    throw new InvalidOptionError(
      'commandTimeoutMs',
      `commandTimeoutMs must be less than leaseMs (${leaseMs}); received ${commandTimeoutMs}: lower it, to half of leaseMs or less, or raise leaseMs`,
    );
  }
  return { ...resolved, commandTimeoutMs };
}
