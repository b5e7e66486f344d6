import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
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

/** A client of either kind. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** Runs a script on one key and resolves to its answer as text. */
export type ScriptRunner = (script: Script, key: string, args: string[]) => Promise<string>;

/** @throws {InvalidOptionError} when `client` is of neither kind */
export function createScriptRunner(client: RedisClient): ScriptRunner {
  const { evalsha, eval: evaluate } = toScriptCommands(client);
  return async (script, key, args) => {
    const reply = await evalsha(script.sha1, key, args).catch((error: unknown) => {
      if (!isScriptMissing(error)) throw error;
      return evaluate(script.source, key, args);
    });
    return toText(reply);
  };
}

// A client can be set to give numbers as text, or text as bytes. No script gives anything else.
function toText(reply: unknown): string {
  if (reply instanceof Uint8Array) return Buffer.from(reply).toString();
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
  if (hasMethods(client, 'evalsha', 'eval') && !isOtherLibrary(client)) {
    const ioredis = client as IoredisClient;
    return {
      evalsha: async (sha1, key, args) => ioredis.evalsha(sha1, 1, key, ...args),
      eval: async (source, key, args) => ioredis.eval(source, 1, key, ...args),
    };
  }
  const lacks = isOtherLibrary(client) ? 'defineCommand' : 'evalsha or evalSha';
  throw new InvalidOptionError(
    'client',
    `client must be a client of ioredis or redis (node-redis), but received ${describeValue(client)} without ${lacks}`,
  );
}

// Clients over HTTP (Upstash, Vercel KV) and redis 3 have methods of the same names, with other
// arguments. A wrapper that has nothing but evalsha and eval was made for this.
function isOtherLibrary(client: unknown): boolean {
  return hasMethods(client, 'evalsha', 'get') && !hasMethods(client, 'defineCommand');
}

function hasMethods(client: unknown, ...names: string[]): boolean {
  const methods = client as Record<string, unknown> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

// The reply has no code besides its first word, and each client has an error class of its own.
function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
