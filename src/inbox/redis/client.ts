import { InboxError, InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { within } from '../../protocol/within.js';
import type { Script } from './scripts.js';

/** What is used of an ioredis client or its Cluster. */
export interface IoredisClient {
  /** Runs a script that the server has. */
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script, which the server then keeps. */
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is used of a node-redis client, pool, cluster or sentinel. */
export interface NodeRedisClient {
  /** Runs a script that the server has. */
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script, which the server then keeps. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** What is used of a client of `@upstash/redis`, which sends commands over HTTP. */
export interface UpstashRedisClient {
  /** Runs a script that the server has. */
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  /** Runs a script, which the server then keeps. */
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  /** What tells it from a client of ioredis; not called. */
  createScript(script: string): unknown;
}

/** A client of any kind. */
export type RedisClient = IoredisClient | NodeRedisClient | UpstashRedisClient;

/** For messages. */
export const CLIENTS = 'ioredis, redis (node-redis) or @upstash/redis';

/** Runs a script on one key and resolves to its answer as text. */
export type ScriptRunner = (script: Script, key: string, args: string[]) => Promise<string>;

/** @throws {InvalidOptionError} when `client` is of no kind */
export function createScriptRunner(client: RedisClient): ScriptRunner {
  const { evalsha, eval: evaluate } = toScriptCommands(client);
  return async (script, key, args) => {
    const reply = await evalsha(await script.sha1(), key, args).catch((error: unknown) => {
      if (!isScriptMissing(error)) throw error;
      return evaluate(script.source, key, args);
    });
    return toText(reply);
  };
}

// A client can be set to give numbers as text, or text as bytes, and Upstash's parses text that is JSON, which
// no word that a script gives is. No script gives anything else.
function toText(reply: unknown): string {
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  return typeof reply === 'object' ? '' : String(reply);
}

interface ScriptCommands {
  evalsha(sha1: string, key: string, args: string[]): Promise<unknown>;
  eval(source: string, key: string, args: string[]): Promise<unknown>;
}

function toScriptCommands(client: RedisClient): ScriptCommands {
  if (hasMethods(client, 'evalSha', 'eval')) {
    const nodeRedis = client as NodeRedisClient;
    return {
      evalsha: async (sha1, key, args) => nodeRedis.evalSha(sha1, { keys: [key], arguments: args }),
      eval: async (source, key, args) => nodeRedis.eval(source, { keys: [key], arguments: args }),
    };
  }
  if (hasMethods(client, 'evalsha', 'eval', 'createScript')) {
    const upstash = client as UpstashRedisClient;
    return {
      evalsha: async (sha1, key, args) => upstash.evalsha(sha1, [key], args),
      eval: async (source, key, args) => upstash.eval(source, [key], args),
    };
  }
  if (hasMethods(client, 'evalsha', 'eval') && !isOtherLibrary(client)) {
    const ioredis = client as IoredisClient;
    return {
      evalsha: async (sha1, key, args) => ioredis.evalsha(sha1, 1, key, ...args),
      eval: async (source, key, args) => ioredis.eval(source, 1, key, ...args),
    };
  }
  const lacks = isOtherLibrary(client)
    ? 'defineCommand (ioredis) or createScript (@upstash/redis)'
    : 'evalsha or evalSha';
  throw new InvalidOptionError(
    'client',
    `client must be a client of ${CLIENTS}; received ${describeValue(client)} without ${lacks}`,
  );
}

// A pipeline of Upstash's and redis 3 have methods of the same names, with other arguments. A wrapper that
// has nothing but evalsha and eval was made for this, as ioredis has them.
function isOtherLibrary(client: unknown): boolean {
  return hasMethods(client, 'evalsha', 'get') && !hasMethods(client, 'defineCommand');
}

function hasMethods(client: unknown, ...names: string[]): boolean {
  const methods = client as Record<string, unknown> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

// The reply's code is its first word, and each client has another error class. Upstash's says before it that a
// command of a pipeline failed, into which it gathers commands on its own.
function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && /^(?:Command failed: )?NOSCRIPT\b/.test(error.message);
}

/**
 * The answer of a client.
 *
 * @throws {InboxError} `INBOX_TIMEOUT` when it does not come in time, `STORE_FAILED` when a failure
 * comes
 */
export async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const answered = answer.catch((error: unknown) => {
    throw redisFailed(error);
  });
  return within(limitMs, answered, () => {
    throw timedOut(limitMs);
  });
}

const RETRY_PAUSE_MS = 100;

/** Tries again after each failure, at least once in all, until a time by `performance.now()`. */
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

/** Not the client's own error: ioredis adds the command to it, which can be the one with the password. */
function redisFailed(error: unknown): InboxError {
  const { name, message, code } = (error ?? {}) as Partial<Record<string, unknown>>;
  const cause = new Error(withoutArguments(String(message ?? 'no message')));
  cause.name = typeof name === 'string' ? name : 'Error';
  if (typeof code === 'string') Object.assign(cause, { code });
  return new InboxError('STORE_FAILED', `Redis could not be asked: ${cause}`, { cause });
}

// A server that does not know a command (HELLO before Redis 6, what an ACL or a proxy leaves out)
// says with what it was called: `ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' …`. Upstash's
// client adds to every failure `, command was: ["evalsha",…]`.
function withoutArguments(message: string): string {
  return message.replace(/,? *(?:with args beginning with|command was:).*/is, '');
}

function timedOut(limitMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `Redis did not answer within ${limitMs} ms (commandTimeoutMs), so whether this callback was recorded is unknown. Answer the service with 503 or 500, so that it delivers again, and see whether Redis can be reached`,
  );
}
