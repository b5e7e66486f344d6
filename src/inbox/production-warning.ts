const WARNING =
  'memoryInbox keeps what it knows in this process alone: after a restart, and on a second instance, callbacks are processed again. In production use redisInbox, postgresInbox or sqliteInbox.';

let warned = false;

interface ProcessLike {
  readonly env?: Record<string, string | undefined>;
  emitWarning?(message: string, options: { code: string }): void;
}

/**
 * Says once per process what a memory inbox does not do. When the first callback comes, and not at
 * construction: a build that loads the module runs with NODE_ENV=production too.
 */
export function warnInProduction(): void {
  if (warned) return;
  warned = true;
  const { process } = globalThis as { process?: ProcessLike };
  if (!isDeployed(process?.env)) return;
  const code = 'MERCHANT_PAYMENTS_MEMORY_INBOX';
  if (process?.emitWarning) process.emitWarning(WARNING, { code });
  else console.warn(WARNING);
}

// Instances of functions and Workers come and go by the minute; many Workers have no environment.
function isDeployed(env: ProcessLike['env']): boolean {
  if (env === undefined) return true;
  return env['NODE_ENV'] === 'production' || 'AWS_LAMBDA_FUNCTION_NAME' in env || 'VERCEL' in env;
}
