import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { createScene, post, postBody, storeThat } from './scene.js';

/** What the default of onError says of a callback. */
async function shown(request = post(), options: Parameters<typeof createScene>[0] = {}) {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const scene = createScene({ onError: undefined, ...options });
  await scene.receive(request);
  return spy.mock.calls.map((parts) => parts.join(' ')).join('\n');
}

const shownOf = (error: unknown) => shown(post(), { onPayment: () => Promise.reject(error) });

describe('the default of onError', () => {
  it('says on console.error what failed, and for which change', async () => {
    const { merchantPaymentReference, referenceNumber } = sampleRecord();
    expect(await shownOf(new Error('the order book is down'))).toMatch(
      new RegExp(
        `could not be processed \\(key \\S+, merchantPaymentReference ${merchantPaymentReference}, referenceNumber ${referenceNumber}\\): Error: the order book is down\n    at `,
      ),
    );
  });

  it('names the code of a request that was no callback, without a stack', async () => {
    const text = await shown(postBody('{}'));
    expect(text).toContain('could not be processed: [INVALID_RECORD] The callback is authentic');
    expect(text).not.toContain('\n    at ');
  });

  it('says only of a second payment that a person is needed', async () => {
    const store = storeThat(async (work) => {
      await work({ secondPayment: true });
      return { outcome: 'processed' };
    });
    expect(await shown(post(), { store })).toMatch(/needs a person .*: \[SECOND_PAYMENT\]/);
    const foreign = Object.assign(new Error('not ours'), { code: 'SECOND_PAYMENT' });
    expect(await shownOf(foreign)).toMatch(/could not be processed .*: \[SECOND_PAYMENT\] Error/);
  });

  it('shows the texts of the causes, and of attempts to connect', async () => {
    const attempts = [new Error('ECONNREFUSED ::1'), new Error('ECONNREFUSED 127.0.0.1')];
    const cause = Object.assign(new AggregateError(attempts), { code: 'ECONNREFUSED' });
    expect(await shownOf(new StoreError('STORE_FAILED', 'it is away', { cause }))).toMatch(
      /\[STORE_FAILED\] StoreError: it is away[\s\S]*caused by: \[ECONNREFUSED\] AggregateError[\s\S]*ECONNREFUSED ::1; .*127/,
    );
  });

  it('shows nothing that a driver has added to its error', async () => {
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 'planted-password'] };
    const cause = Object.assign(new Error('WRONGPASS'), { command, detail: 'planted-row' });
    const text = await shownOf(new Error('outer', { cause }));
    expect(text).toContain('WRONGPASS');
    expect(text).not.toContain('planted');
  });

  it.each([
    ['text', 'text'],
    [{ token: 'planted' }, 'an object'],
    [null, 'an object'],
    [undefined, 'undefined was thrown'],
  ])('copes with %s', async (error, said) => {
    expect((await shownOf(error)).endsWith(`: ${said}`)).toBe(true);
  });
});
