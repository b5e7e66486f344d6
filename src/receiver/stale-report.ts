import type { VerifiedCallback } from '../callback/options.js';
import { InboxError } from '../errors.js';
import { OnceAMinute } from './once-a-minute.js';
import { report } from './report.js';

/** Reports changes that were acknowledged as stale: `onPayment` never sees them. */
export function createStaleReport(
  onError: (error: unknown, callback?: VerifiedCallback) => unknown,
): (callback: VerifiedCallback) => Promise<void> {
  const limit = new OnceAMinute();
  return async (callback) => {
    const unreported = limit.take();
    if (unreported === undefined) return;
    const before = unreported > 0 ? ` (and ${unreported} before it)` : '';
    const error = new InboxError(
      'STALE_CHANGE',
      `A change${before} was acknowledged without onPayment: a newer one of its payment was processed before. With onStale: 'process' onPayment gets it with stale: true`,
    );
    await report(onError, error, callback);
  };
}
