import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import type { ResolvedCheckOptions } from './options.js';

/**
 * Runs `work` with a sender that the signal aborts. `what` names the work in the error's message.
 *
 * @throws {RequestAbortedError} when the signal aborted
 */
export async function withSender<Result>(
  { signal, timeoutMs }: ResolvedCheckOptions,
  what: string,
  work: (sender: CallbackSender) => Promise<Result>,
): Promise<Result> {
  const sender = new CallbackSender(timeoutMs);
  const abort = (): void => sender.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await work(sender);
  } catch (error) {
    if (!signal?.aborted) throw error;
    const message = `The ${what} of the callback endpoint was aborted by its signal`;
    throw new RequestAbortedError(message, { requestOutcome: 'not-sent' });
  } finally {
    signal?.removeEventListener('abort', abort);
    sender.close();
  }
}
