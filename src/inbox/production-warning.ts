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
  // Not every runtime has one.
  const { process } = globalThis as { process?: ProcessLike };
  if (process?.env?.['NODE_ENV'] !== 'production') return;
  if (process.emitWarning) process.emitWarning(WARNING, { code: 'MERCHANT_PAYMENTS_MEMORY_INBOX' });
  else console.warn(WARNING);
}
