import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceRequest } from '../../src/client/prepared-request.js';
import { InvalidRequestError, type Issue } from '../../src/errors.js';
import type { CreatePaymentInput } from '../../src/protocol/payment.js';
import { createClient, created, failureOf, order, startRawServer } from './raw-server.js';

const client = () => createClient('https://payments.invalid');

/** What is wrong with a creation, by the user's side. */
async function issuesOf(input: unknown, extraBody?: unknown): Promise<readonly Issue[]> {
  const options = { extraBody: extraBody as Record<string, unknown> };
  const error = await failureOf(client().payments.create(input as CreatePaymentInput, options));
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ code: 'INVALID_REQUEST', requestOutcome: 'not-sent' });
  expect(error.safeToRetry).toBe(false);
  expect(error.message).toMatch(/^The request was not sent: /);
  return (error as InvalidRequestError).issues;
}

/** The body as the server got it. */
async function sent(input: unknown, extraBody?: Record<string, unknown>): Promise<string> {
  const server = await startRawServer({ answer: () => created });
  await createClient(server.url).payments.create(input as CreatePaymentInput, { extraBody });
  return server.requests[0]?.body as string;
}

const amountRule = 'must be a finite number within ±9007199254740991';
const spoiltRule = 'must be a number without a rounding error, received one with';
const referenceRule = 'must be a string that is not blank';
const currencyRule = 'must be three capital letters such as EUR';

describe('the input of a creation', () => {
  it.each<[string, unknown, string]>([
    ['amount', Number.NaN, `${amountRule}, received NaN`],
    ['amount', Number.POSITIVE_INFINITY, `${amountRule}, received an infinite number`],
    ['amount', 2 ** 53, `${amountRule}, received a number`],
    ['amount', -(2 ** 53), `${amountRule}, received a number`],
    ['amount', 2500n, `${amountRule}, received a bigint`],
    ['amount', '2500', `${amountRule}, received a string of 4 characters`],
    ['amount', 0.1 + 0.2, `${spoiltRule}; was 0.3 meant? Round it, or calculate in whole units`],
    [
      'amount',
      -(4.35 * 100),
      `${spoiltRule}; was -435 meant? Round it, or calculate in whole units`,
    ],
    ['amount', undefined, `is missing, and ${amountRule}`],
    ['currency', 'eur', `${currencyRule}, received lower-case letters`],
    ['currency', 'EURO', `${currencyRule}, received a string of 4 characters`],
    ['currency', 'EUR\n', `${currencyRule}, received a string of 4 characters`],
    ['currency', 'ÄÖÜ', `${currencyRule}, received a string of 3 characters`],
    ['currency', 978, `${currencyRule}, received a number`],
    ['currency', undefined, `is missing, and ${currencyRule}`],
    ['merchantPaymentReference', '', `${referenceRule}, received an empty string`],
    ['merchantPaymentReference', ' \t\n', `${referenceRule}, received a blank string`],
    [
      'merchantPaymentReference',
      'Tee 💸'.slice(0, 5),
      'must be well-formed Unicode, received half of a surrogate pair; was it cut?',
    ],
    ['merchantPaymentReference', 1001, `${referenceRule}, received a number`],
    ['merchantPaymentReference', undefined, `is missing, and ${referenceRule}`],
  ])('is refused for its %s', async (field, value, message) => {
    expect(await issuesOf({ ...order, [field]: value })).toEqual([{ path: [field], message }]);
  });

  it.each([
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [Number.MIN_SAFE_INTEGER, '-9007199254740991'],
    [0, '0'],
    [0.1, '0.1'],
    [19.99, '19.99'],
    [1e-7, '1e-7'],
    [-123456789.01, '-123456789.01'],
  ])('may have the amount %d, which goes out as %s', async (amount, text) => {
    expect(await sent({ ...order, amount })).toBe(
      `{"merchantPaymentReference":"order-1001","amount":${text},"currency":"EUR"}`,
    );
  });

  // Without extraBody a good input takes a shorter way, which must not take more than the long one.
  it('is judged alike with and without an extraBody, and goes out as it is', async () => {
    const bodies: unknown[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(init?.body as string));
      return new Response(null, { status: 204 });
    };
    const both = createClient('https://payments.invalid', { fetch });
    const anything = fc.record(
      {
        merchantPaymentReference: fc.oneof(fc.string(), fc.constantFrom(' ', '\u00a0', null)),
        amount: fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom('1', null, -0)),
        currency: fc.oneof(fc.stringMatching(/^[A-Z]{2,4}\n?$/), fc.constantFrom('EUR', 'eur', 7)),
        note: fc.string(),
      },
      { requiredKeys: ['merchantPaymentReference', 'amount', 'currency'] },
    );
    const judge = (input: unknown, extraBody?: Record<string, unknown>) =>
      both.payments.create(input as CreatePaymentInput, { extraBody }).then(
        () => undefined,
        (error: InvalidRequestError) => error.issues,
      );
    await fc.assert(
      fc.asyncProperty(anything, async (input) => {
        bodies.length = 0;
        const issues = await judge(input);
        expect(await judge(input, {})).toEqual(issues);
        const sentOnce = JSON.parse(JSON.stringify(input));
        expect(bodies).toEqual(issues === undefined ? [sentOnce, sentOnce] : []);
      }),
    );
  });

  it.each([[undefined], [null], ['order-1001'], [42], [[]]])(
    'is refused when it is %j',
    async (input) => {
      const [issue, ...others] = await issuesOf(input);
      expect(others).toEqual([]);
      expect(issue?.path).toEqual([]);
      expect(issue?.message).toContain(
        'must be an object with merchantPaymentReference, amount and currency',
      );
    },
  );

  it('is refused with every reason at once, and none of its values', async () => {
    const issues = await issuesOf({ ...order, amount: 'hunter2', currency: 'hunter2', note: 'x' });
    expect(issues.map(({ path }) => path.join('.'))).toEqual(['amount', 'currency', 'note']);
    expect(JSON.stringify(issues)).not.toContain('hunter2');
  });

  it('is refused for a field that the interface does not show, with the remedy', async () => {
    expect(await issuesOf({ ...order, description: 'Shoes' })).toEqual([
      {
        path: ['description'],
        message:
          'is not a field of a payment creation; pass it in extraBody if the service takes it',
      },
    ]);
  });
});

describe('extraBody', () => {
  it('goes out beside the three fields', async () => {
    const extraBody = { description: 'Shoes', nested: { a: [1, null, true] }, dropped: undefined };
    expect(await sent(order, extraBody)).toBe(
      '{"description":"Shoes","nested":{"a":[1,null,true]},"merchantPaymentReference":"order-1001","amount":2500,"currency":"EUR"}',
    );
  });

  it.each([
    ['merchantPaymentReference', 'x'],
    ['amount', 1],
    ['amount', undefined],
    ['currency', 'USD'],
  ])('may not replace %s', async (field, value) => {
    expect(await issuesOf(order, { [field]: value })).toEqual([
      {
        path: ['extraBody', field],
        message: 'must not replace a field of the payment; pass it in the first argument only',
      },
    ]);
  });

  it('may not have a toJSON, which would replace the three fields', async () => {
    const extraBody = { toJSON: () => ({ amount: 1 }) };
    expect(await issuesOf(order, extraBody)).toEqual([
      { path: ['extraBody', 'toJSON'], message: 'must be left out; pass plain fields' },
    ]);
  });

  it.each<[unknown, string]>([
    [null, 'null'],
    [['a'], 'an array'],
    [[], 'an empty array'],
    ['a', 'a string of 1 character'],
    [1, 'a number'],
  ])('is refused when it is %j', async (extraBody, came) => {
    expect(await issuesOf(order, extraBody)).toEqual([
      { path: ['extraBody'], message: `must be an object, received ${came}` },
    ]);
  });
});

describe('the request of request()', () => {
  const refused = async (request: unknown) => {
    const error = await failureOf(client().request(request as ServiceRequest));
    expect(error).toMatchObject({ requestOutcome: 'not-sent' });
    return error;
  };

  it.each([[undefined], [null], ['GET /x']])('is refused when it is %s', async (request) => {
    const error = await refused(request);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'request' });
    expect(error.message).toMatch(
      /^request (is missing; it )?must be an object with method and path/,
    );
  });

  it.each<[unknown, string]>([
    ['', 'received an empty string'],
    ['CONNECT', 'received a string of 7 characters'],
    ['POST\r\nX-A: b', 'received a string of 12 characters'],
    [42, 'received a number'],
  ])('is refused for the method %j', async (method, came) => {
    const error = await refused({ method, path: '/x' });
    expect(error).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(error.message).toBe(
      `The request was not sent: method must be one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, ${came}`,
    );
  });

  it('is refused without a method', async () => {
    const error = await refused({ path: '/x' });
    expect(error.message).toContain(': method is missing, and must be one of GET, POST, ');
  });

  it.each(['GET', 'HEAD', 'get'])('is refused for a body with %s', async (method) => {
    const error = await refused({ method, path: '/x', body: null });
    expect(error.message).toContain(
      `body must be left out with ${method.toUpperCase()}; put it in the query of path`,
    );
  });

  it.each<unknown>([
    ...[
      '',
      'x',
      '//evil.example/x',
      'https://evil.example/x',
      '?a=1',
      '/a b',
      '/a\r\nX-Injected: 1',
    ],
    ...['/a\u0000', '/ä', '/a#b', '/a\\b', undefined, 42],
  ])('is refused for the path %j', async (path) => {
    const error = await refused({ method: 'GET', path });
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: ['path'] }] });
    expect(error.message).toContain(
      'path must be text that begins with one slash, percent-encoded',
    );
  });

  it.each(
    '/. /../x /a/../b /a/%2E%2e/b /a/.%2e?x=1 /a%2F..%2Fb /a/..%5cb /%2f%2e%2E /a%5C..'.split(' '),
  )('is refused for the dot segments of %s', async (path) => {
    const error = await refused({ method: 'GET', path });
    expect(error.message).toBe(
      'The request was not sent: path must not contain "." or ".." segments',
    );
  });

  it('is refused for a field that it does not have', async () => {
    const error = await refused({ method: 'GET', path: '/x', headers: {}, timeoutMs: 5 });
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      issues: [{ path: ['headers'] }, { path: ['timeoutMs'] }],
    });
    expect(error.message).toContain(
      'headers is not a field of a request, which has method, path and body; options are the second argument',
    );
  });
});
