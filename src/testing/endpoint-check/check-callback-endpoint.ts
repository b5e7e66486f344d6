import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { type CheckClock, systemClock } from './clock.js';
import { type CheckCallbackEndpointOptions, resolveCheckOptions } from './options.js';
import type { EndpointReport } from './report.js';
import { runChecks } from './run.js';

/**
 * Checks your own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6). It must accept what the service
 * sends, refuse everything else, and act once on each change, even if callbacks arrive twice, at once, late or out of
 * order. It sends about 40 requests, one check after the other, for made-up payments
 * that do not exist at the service. Effects are checked at the end, after one wait.
 *
 * The endpoint acts on these callbacks, so run it against a test system. Only your own records show whether
 * it *acted* correctly, so give `countEffects`; without it those checks are `skipped`.
 *
 * One cause is one failure: checks that would fail for the same cause are skipped, and name it. Nothing else is
 * checked unless the endpoint answers, accepts a valid callback in time, refuses a forged one, and stays up. If
 * it refuses a valid callback, it is sent at most nine more, in forms that endpoints expect by mistake; `remedy` then
 * explains the one that it accepts.
 *
 * The report has everything that the checks found, including network failures, which do not reject the promise.
 *
 * @throws {InvalidOptionError} when the URL or an option is invalid (the promise rejects)
 * @throws {RequestAbortedError} when `signal` aborted
 *
 * @example
 * ```ts
 * import { checkCallbackEndpoint } from 'merchant-payments/testing';
 *
 * const shipments = new Map<string, number>(); // what your code did, by referenceNumber
 *
 * const report = await checkCallbackEndpoint('http://127.0.0.1:3000/callbacks/payments', {
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   countEffects: ({ referenceNumber }) => shipments.get(referenceNumber) ?? 0,
 * });
 * for (const { outcome, title, detail, remedy } of report.checks) {
 *   if (outcome === 'failed') console.error(`${title}: ${detail}. ${remedy}`);
 * }
 * ```
 */
export async function checkCallbackEndpoint(
  url: string | URL,
  options: CheckCallbackEndpointOptions,
): Promise<EndpointReport> {
  return checkByClock(url, options, systemClock);
}

/** As {@link checkCallbackEndpoint}, by a clock of the caller's. */
export async function checkByClock(
  url: string | URL,
  options: CheckCallbackEndpointOptions,
  clock: CheckClock,
): Promise<EndpointReport> {
  const resolved = resolveCheckOptions(url, options, clock);
  const { signal, timeoutMs } = resolved;
  // An endpoint with a single thread would serve a kept connection alone.
  const sender = new CallbackSender({ timeoutMs, startTimer: clock.startTimer, reset: true });
  const abort = (): void => sender.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await runChecks(resolved, sender);
  } catch (error) {
    if (!signal?.aborted) throw error;
    const message = 'The check of the callback endpoint was aborted by its signal';
    throw new RequestAbortedError(message, { requestOutcome: 'not-sent' });
  } finally {
    signal?.removeEventListener('abort', abort);
    await sender.close();
  }
}
