import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CallbackVerificationError } from '../../src/errors.js';
import { createRejectionLog } from '../../src/receiver/report.js';

function listen() {
  const spy = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  return spy.mock.calls;
}

const mismatch = new CallbackVerificationError('SIGNATURE_MISMATCH', 'it does not match');
const stale = new CallbackVerificationError('TIMESTAMP_OUTSIDE_WINDOW', 'it is old');

describe('the default of onRejected', () => {
  it('says it once a minute for each code, and how many there were', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    // A process that has been up for an hour.
    vi.advanceTimersByTime(3_600_000);
    const lines = listen();
    const log = createRejectionLog();
    for (let count = 0; count < 1000; count += 1) log(mismatch);
    log(stale);
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(59_999);
    log(mismatch);
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(1);
    log(mismatch);
    expect(lines[2]).toEqual([
      'merchant-payments: a payment callback was refused (and 1000 before it): SIGNATURE_MISMATCH: it does not match',
    ]);
  });
});
