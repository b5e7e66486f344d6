/** What a process says: that it listens, or what failed in it. */
export type WorkerMessage = { readonly port: number } | { readonly error: string };

export function tell(message: WorkerMessage): void {
  process.send?.(message);
}

/** No message of an error with a code: it may name a port, and would be another one each time. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if ('code' in error) return String(error.code);
  return error.name === 'Error' ? error.message.slice(0, 40) : error.name;
}
