import { InboxError } from '../../errors.js';

/**
 * The answer of a client.
 *
 * @throws {InboxError} `INBOX_TIMEOUT` when it does not come in time, `STORE_FAILED` when a failure
 * comes
 */
export async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(limitMs)), limitMs);
  });
  const answered = answer.catch((error: unknown) => {
    throw redisFailed(error);
  });
  try {
    return await Promise.race([answered, timeout]);
  } finally {
    clearTimeout(timer);
  }
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
// says with what it was called: `ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' …`
function withoutArguments(message: string): string {
  return message.replace(/,? *with args beginning with.*/is, '');
}

function timedOut(limitMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `Redis did not answer within ${limitMs} ms (commandTimeoutMs), so whether this callback was recorded is unknown. Answer the service with 503 or 500, so that it delivers again, and see whether Redis can be reached`,
  );
}
