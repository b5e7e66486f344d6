import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../src/errors.js';
import { report, reportToConsole } from '../../src/receiver/report.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { createScene, post, postBody } from './scene.js';

function listen() {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => spy.mock.calls.map((parts) => parts.join(' ')).join('\n');
}

describe('the default of onError', () => {
  it('says on console.error what failed, and for which change', async () => {
    const shown = listen();
    const scene = createScene({
      onError: undefined,
      onPayment: () => Promise.reject(new Error('the order book is down')),
    });
    await scene.receive(post());
    const { merchantPaymentReference, referenceNumber } = sampleRecord();
    expect(shown()).toContain(
      `(key ${scene.handled[0]?.key}, merchantPaymentReference ${merchantPaymentReference}, referenceNumber ${referenceNumber}): Error: the order book is down\n    at `,
    );
  });

  it('names the code of a request that was no callback, without a stack', async () => {
    const shown = listen();
    await createScene({ onError: undefined }).receive(postBody('{}'));
    expect(shown()).toContain('could not be processed: [INVALID_RECORD] The callback is authentic');
    expect(shown()).not.toContain('\n    at ');
  });

  it('says only of a second payment that a person is needed', () => {
    const shown = listen();
    reportToConsole(new StoreError('SECOND_PAYMENT', 'look both up'));
    expect(shown()).toContain('a payment callback needs a person: [SECOND_PAYMENT]');
    reportToConsole(new StoreError('STORE_FAILED', 'no database'));
    reportToConsole(Object.assign(new Error('not ours'), { code: 'SECOND_PAYMENT' }));
    expect(shown()).toContain('could not be processed: [STORE_FAILED]');
    expect(shown()).toContain('could not be processed: [SECOND_PAYMENT] Error: not ours');
  });

  it('shows the texts of the causes, and of attempts to connect', () => {
    const shown = listen();
    const attempts = [new Error('ECONNREFUSED ::1'), new Error('ECONNREFUSED 127.0.0.1')];
    const cause = Object.assign(new AggregateError(attempts), { code: 'ECONNREFUSED' });
    reportToConsole(new StoreError('STORE_FAILED', 'the store is away', { cause }));
    expect(shown()).toContain('[STORE_FAILED] StoreError: the store is away');
    expect(shown()).toMatch(
      /caused by: \[ECONNREFUSED\] AggregateError[\s\S]*ECONNREFUSED ::1; .*127/,
    );
  });

  it('shows nothing that a driver has added to its error', () => {
    const shown = listen();
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 'planted-password'] };
    const error = Object.assign(new Error('WRONGPASS'), { command, detail: 'planted-row' });
    reportToConsole(new Error('outer', { cause: error }));
    reportToConsole({ token: 'planted-object' });
    expect(shown()).toContain('WRONGPASS');
    expect(shown()).toMatch(/could not be processed: an object$/);
    expect(shown()).not.toContain('planted');
  });
  it.each([
    ['text', 'text'],
    [7, '7'],
    [null, 'an object'],
    [undefined, 'undefined was thrown'],
  ])('copes with %s', (error, said) => {
    const shown = listen();
    reportToConsole(error);
    expect(shown()).toBe(`merchant-payments: a payment callback could not be processed: ${said}`);
  });
});

describe('report', () => {
  it('but not longer than two seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const reported = report(() => new Promise(() => {}), new Error('trouble'), undefined);
    await vi.advanceTimersByTimeAsync(2_000);
    await reported;
    expect(vi.getTimerCount()).toBe(0);
  });
});
