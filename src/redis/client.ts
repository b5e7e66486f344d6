import { InvalidOptionError, StoreError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { within } from '../protocol/waiting.js';
import { late } from '../store/errors.js';
import { COMMANDS } from './scripts.js';

/** The method used of an ioredis client or its Cluster. */
export interface IoredisClient {
  /** Runs a script. */
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The method used of a node-redis client, pool, cluster or sentinel. */
export interface NodeRedisClient {
  /** Runs a script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Distinguishes it from an ioredis client; never called. */
  evalSha(sha1: string): unknown;
}

/** The method used of a client of `@upstash/redis`, which sends commands over HTTP. */
export interface UpstashRedisClient {
  /** Runs a script. */
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  /** Distinguishes it from an ioredis client; never called. */
  createScript(script: string): unknown;
}

/** A client of any supported library. */
export type RedisClient = IoredisClient | NodeRedisClient | UpstashRedisClient;

/** The supported libraries, for error messages. */
export const CLIENTS = 'ioredis, redis (node-redis) or @upstash/redis';

/** Runs a script on one key, and resolves with its reply as text. */
export type RunScript = (script: string, key: string, args: string[]) => Promise<string>;

/** @throws {InvalidOptionError} when `client` is not of a supported library */
export function createScriptRunner(client: RedisClient): RunScript {
  const send = senderOf(client);
  return async (script, key, args) => toText(await send(script, key, args));
}

// Clients can be configured to return numbers as text, or text as bytes. Upstash's parses text that is JSON, but
// the scripts return only plain words and numbers.
function toText(reply: unknown): string {
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  return typeof reply === 'object' ? '' : String(reply);
}

function senderOf(
  client: RedisClient,
): (script: string, key: string, args: string[]) => Promise<unknown> {
  if (hasMethods(client, 'evalSha', 'eval')) {
    const { eval: run } = client as NodeRedisClient;
    return (script, key, args) => run.call(client, script, { keys: [key], arguments: args });
  }
  if (hasMethods(client, 'createScript', 'eval')) {
    const { eval: run } = client as UpstashRedisClient;
    return (script, key, args) => run.call(client, script, [key], args);
  }
  if (hasMethods(client, 'eval') && !isOtherLibrary(client)) {
    const { eval: run } = client as IoredisClient;
    return (script, key, args) => run.call(client, script, 1, key, ...args);
  }
  const lacks = isOtherLibrary(client)
    ? 'defineCommand (ioredis) or createScript (@upstash/redis)'
    : 'eval';
  throw new InvalidOptionError(
    'client',
    `client must be a client of ${CLIENTS}; received ${describeValue(client)} without ${lacks}`,
  );
}

// An Upstash pipeline and redis 3 have methods of the same names with other arguments. A wrapper with only eval is
// assumed to follow ioredis.
function isOtherLibrary(client: unknown): boolean {
  return hasMethods(client, 'eval', 'get') && !hasMethods(client, 'defineCommand');
}

function hasMethods(client: unknown, ...names: string[]): boolean {
  const methods = client as Record<string, unknown> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

/**
 * Waits for a client's answer until a deadline.
 *
 * @throws {StoreError} `STORE_TIMEOUT` when there is no answer in time, `STORE_FAILED` when the client or Redis
 * fails
 */
export async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const answered = answer.catch((error: unknown) => {
    throw redisFailed(error);
  });
  return within(limitMs, answered, () => {
    throw late(
      `Redis did not answer within ${limitMs} ms (commandTimeoutMs), so whether the callback was recorded is unknown. Answer 503, and check the network`,
    );
  });
}

const RETRY_PAUSE_MS = 100;

/** Calls `attempt` at least once, and again after each failure until `lastMs`, by `performance.now()`. */
export async function retryUntil<T>(lastMs: number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() + RETRY_PAUSE_MS >= lastMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

/** Copies the client's error, to which ioredis adds the failed command, possibly the one with the password. */
function redisFailed(error: unknown): StoreError {
  const { name, message, code } = (error ?? {}) as Partial<Record<string, unknown>>;
  const cause = new Error(withoutArguments(String(message ?? 'no message')));
  cause.name = typeof name === 'string' ? name : 'Error';
  if (typeof code === 'string') Object.assign(cause, { code });
  const remedy = REFUSED.test(cause.message)
    ? `. The user of the client must have the right to run ${COMMANDS}, on all keys that begin with prefix`
    : '';
  const text = `The request to Redis failed: ${cause}${remedy}`;
  return new StoreError('STORE_FAILED', text, { cause });
}

// By the server itself, by a script in the words of Redis 7.0 and of later ones, or because the server lacks scripts.
const REFUSED =
  /\bNOPERM\b|user executing the script can't|ACL failure in script|unknown command \W?eval/i;

// A server that does not know a command (HELLO before Redis 6, one blocked by an ACL or a proxy) quotes its
// arguments: `ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' …`. Upstash's
// client appends `, command was: ["eval",…]` to every failure.
function withoutArguments(message: string): string {
  return message.replace(/,? {0,2}(?:with args beginning with|command was:).*/is, '');
}
