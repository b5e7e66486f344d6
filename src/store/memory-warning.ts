interface ProcessLike {
  readonly env?: Record<string, string | undefined>;
  emitWarning?(message: string, options: { code: string }): void;
}

/**
 * Creates a function that warns once per process about what a store in memory does not do. Call it at the store's
 * first use, not at construction: a build that loads the module also runs with NODE_ENV=production.
 */
export function createMemoryWarning(code: string, message: string): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const { process } = globalThis as { process?: ProcessLike };
    if (!isDeployed(process?.env)) return;
    if (process?.emitWarning) process.emitWarning(message, { code });
    else console.warn(message);
  };
}

// Serverless functions and Workers start new instances all the time; many Workers have no environment.
function isDeployed(env: ProcessLike['env']): boolean {
  if (env === undefined) return true;
  return env['NODE_ENV'] === 'production' || 'AWS_LAMBDA_FUNCTION_NAME' in env || 'VERCEL' in env;
}
