import { describe, expect, test } from 'vitest';
import { InvalidOptionError, MerchantPaymentsError } from '../../src/errors.js';
import {
  createMockService,
  type MockServerOptions,
  startMockServer,
} from '../../src/mock-server/index.js';

describe('an invalid option is refused before anything starts', () => {
  test.each<[string, object]>([
    ['apiKey', { apiKey: 'a:b' }],
    ['apiKey', { apiKey: 'a\nb' }],
    ['apiSecret', { apiSecret: 'secret\n' }],
    ['signingSecret', { signingSecret: 'secret ' }],
    ['callbackUrl', { callbackUrl: 'ftp://127.0.0.1/' }],
    ['callbackUrl', { callbackUrl: 'http://user:password@127.0.0.1/' }],
    ['retryScheduleMs', { retryScheduleMs: 1_000 }],
    ['retryScheduleMs[1]', { retryScheduleMs: [0, -1] }],
    ['retryScheduleMs[0]', { retryScheduleMs: [2_147_483_648] }],
    ['retrySigning', { retrySigning: 'again' }],
    ['callbackTimeoutMs', { callbackTimeoutMs: 0 }],
    ['signatureEncoding', { signatureEncoding: 'auto' }],
    ['timestampUnit', { timestampUnit: 'minutes' }],
    ['initialStatus', { initialStatus: '' }],
    ['autoStatus', { autoStatus: ' ' }],
    ['autoStatusAfterMs', { autoStatusAfterMs: -1 }],
    ['answerFields', { answerFields: [] }],
    ['answerFields', { answerFields: { status: 'paid' } }],
    ['seed', { seed: -1 }],
    ['clock', { clock: { now: () => 0, advance: async () => undefined } }],
    ['port', { port: 65_536 }],
    ['host', { host: '' }],
  ])('%s: %j', async (option, options) => {
    await expect(startMockServer(options as MockServerOptions)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option,
      message: expect.stringMatching(/must (not )?|must be/),
    });
  });

  test('when it is no object at all', async () => {
    await expect(startMockServer(null as never)).rejects.toMatchObject({ option: 'options' });
    expect(() => createMockService('options' as never)).toThrow(InvalidOptionError);
  });

  test('when it is set later', () => {
    const service = createMockService({ callbackUrl: 'http://127.0.0.1:3000/callbacks' });
    expect(() => {
      service.callbackUrl = 'nowhere';
    }).toThrow(MerchantPaymentsError);
    expect(service.callbackUrl).toBe('http://127.0.0.1:3000/callbacks');
  });
});

test('the refusal of another clock names the one that is taken', () => {
  const clock = { now: Date.now, advance: async () => undefined };
  expect(() => createMockService({ clock })).toThrow(
    'clock must be a clock made by createManualClock(); received an object',
  );
});

test('no message that refuses a secret or a URL shows it', async () => {
  for (const options of [
    { apiKey: 'planted:key' },
    { apiSecret: 'planted ' },
    { signingSecret: ' planted' },
    { callbackUrl: 'http://user:planted@127.0.0.1/' },
  ]) {
    const error = await startMockServer(options).catch((reason: Error) => reason);
    expect(String((error as Error).stack)).not.toContain('planted');
  }
});

test('a fragment is cut off the callbackUrl, since it is never sent', () => {
  const service = createMockService({ callbackUrl: 'http://127.0.0.1:3000/callbacks?a=b#here' });
  expect(service.callbackUrl).toBe('http://127.0.0.1:3000/callbacks?a=b');
});

describe('an option that does not exist is refused, with the one that was probably meant', () => {
  test.each<[string, object, string]>([
    ['retrySchedule', { retrySchedule: [] }, 'retryScheduleMs'],
    ['callbackURL', { callbackURL: 'http://127.0.0.1/' }, 'callbackUrl'],
    ['ports', { ports: 0 }, 'port'],
  ])('by startMockServer: %s', async (option, options, meant) => {
    await expect(startMockServer(options)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option,
      message: `${option} is not a known option; use ${meant}`,
    });
  });

  test('by createMockService, which listens nowhere', () => {
    expect(() => createMockService({ port: 0 } as never)).toThrow(/^port is not a known option/);
  });

  test('by resend, waitForDelivery and waitForRequest, in what is to match too', async () => {
    await using service = createMockService();
    const refused = [
      service.resend('x', { faults: [] } as never),
      service.waitForDelivery({ referenceNumbers: 'x' } as never),
      service.waitForDelivery({}, { timeout: 1 } as never),
      service.waitForRequest({ reference: 'order-1' } as never),
      service.waitForRequest({}, null as never),
      service.setStatus(5 as never, 'paid'),
    ];
    const reasons = await Promise.all(refused.map((call) => call.catch((error) => error.option)));
    expect(reasons).toEqual([
      'faults',
      'match.referenceNumbers',
      'timeout',
      'match.reference',
      'options',
      'referenceNumber',
    ]);
  });
});
