interface ProcessLike {
  readonly env?: Record<string, string | undefined>;
  emitWarning?(message: string, options: { code: string }): void;
}

let hasWarned = false;

/** Warns once per process, at the first use: a build that loads the module also runs with NODE_ENV=production. */
export function warnInProduction(): void {
  if (hasWarned) return;
  hasWarned = true;
  const { process } = globalThis as { process?: ProcessLike };
  if (!isDeployed(process?.env)) return;
  const message =
    'memoryStore forgets at each restart and shares nothing between instances, so an order can be paid twice: use postgresStore, mysqlStore, sqliteStore or redisStore (callbacks).';
  if (process?.emitWarning) {
    process.emitWarning(message, { code: 'MERCHANT_PAYMENTS_MEMORY_STORE' });
  } else console.warn(message);
}

// Serverless functions and Workers start new instances all the time; many Workers have no environment.
function isDeployed(env: ProcessLike['env']): boolean {
  if (env === undefined) return true;
  return env['NODE_ENV'] === 'production' || 'AWS_LAMBDA_FUNCTION_NAME' in env || 'VERCEL' in env;
}
