import { describe, expect, it } from 'vitest';
import type { InvalidRequestError } from '../../src/errors.js';
import { createClient, created, failureOf, order, startRawServer } from './raw-server.js';

const text = '"merchantPaymentReference":"order-1001","amount":2500,"currency":"EUR"';

describe('what JSON would leave out or change in silence is refused by its place', () => {
  class Hidden {
    readonly #amount = 5;
    get amount() {
      return this.#amount;
    }
  }
  const circle: Record<string, unknown> = {};
  circle['inner'] = [circle];
  const deep = Array.from({ length: 100_000 }).reduce((inner) => ({ inner }), 1);
  const objects = 'a plain object, an array or an object with toJSON';
  const any = 'a value that JSON can carry';
  const cases: [string, unknown, string, string?][] = [
    ['a function', () => 1, `${any}, received a function`],
    ['a bigint', 5n, `${any}, received a bigint`],
    ['NaN', Number.NaN, 'a finite number, received NaN'],
    ['undefined in a list', [1, undefined], `${any}, received nothing`, '.1'],
    ['a function in a list', [{ a: [() => 1] }], `${any}, received a function`, '.0.a.0'],
    ['a Map', new Map([['a', 1]]), `${objects}, received one with entries`],
    ['a Set', new Set([1]), `${objects}, received one with entries`],
    ['URLSearchParams', new URLSearchParams('a=1'), `${objects}, received one with entries`],
    ['an Error', new Error('hunter2'), `${objects}, received one whose class shows no fields`],
    ['a promise', Promise.resolve(1), `${objects}, received one whose class shows no fields`],
    ['private fields', new Hidden(), `${objects}, received one whose class shows no fields`],
    ['an invalid Date', new Date(Number.NaN), 'a valid Date, received an invalid one'],
    ['a toJSON without a result', { toJSON: () => undefined }, `${any}, received nothing`],
  ];

  it.each(cases)('%s', async (_what, value, message, below = '') => {
    const client = createClient('https://payments.invalid');
    const requests = [
      ['extraBody.note', client.payments.create(order, { extraBody: { note: value } })],
      ['body', client.request({ method: 'POST', path: '/x', body: value })],
    ] as const;
    for (const [place, call] of requests) {
      const error = (await failureOf(call)) as InvalidRequestError;
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', requestOutcome: 'not-sent' });
      expect(error.issues.map(({ path }) => path.join('.'))).toEqual([place + below]);
      expect(error.message).toContain(`must be ${message}`);
      expect(error.message).not.toContain('hunter2');
    }
  });

  it.each<[string, unknown]>([
    ['that contains itself', circle],
    ['that is too deep', deep],
    [
      'whose toJSON throws',
      {
        toJSON() {
          throw new Error('hunter2');
        },
      },
    ],
  ])('a value %s, which is not quoted', async (_what, value) => {
    const client = createClient('https://payments.invalid');
    const error = await failureOf(client.payments.create(order, { extraBody: { note: value } }));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: ['extraBody'] }] });
    expect(error.message).toContain(
      `${any}, received one that contains itself, is too deep, or has a getter or toJSON that fails`,
    );
    expect(error.message).not.toContain('hunter2');
  });

  it.each<[string, unknown]>([
    ['a Map', new Map([['a', 1]])],
    ['an object whose class shows no fields', new Hidden()],
  ])('an extraBody that is %s', async (_what, extraBody) => {
    const client = createClient('https://payments.invalid');
    const options = { extraBody: extraBody as Record<string, unknown> };
    const error = (await failureOf(client.payments.create(order, options))) as InvalidRequestError;
    expect(error.issues.map(({ path }) => path)).toEqual([['extraBody']]);
  });
});

it.runIf('rawJSON' in JSON)('a number that was given as text keeps its digits', async () => {
  const server = await startRawServer({ answer: () => created });
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const extraBody = { id: rawJSON('12345678901234567890') };
  await createClient(server.url).payments.create(order, { extraBody });
  expect(server.requests[0]?.body).toBe(`{"id":12345678901234567890,${text}}`);
});

it('what JSON carries goes out as JSON.stringify writes it', async () => {
  const server = await startRawServer({ answer: () => created });
  class Line {
    readonly sku = 'a';
  }
  const again = { twice: 1 };
  const body = {
    texts: ['', '"\\\n\u2028', 'Ü 😀', '\ud800', '__proto__'],
    numbers: [0, -0, 0.1, 1e21, 1e-7, -5],
    others: [true, false, null, {}, [], [[]]],
    date: new Date(0),
    url: new URL('https://shop.example/'),
    line: new Line(),
    bare: Object.assign(Object.create(null), { a: 1 }),
    money: { toJSON: (key: string) => ({ key, cents: 5 }) },
    left: undefined,
    same: [again, again],
    proto: JSON.parse('{"__proto__":{"a":1}}'),
    10: 'ten',
    2: 'two',
  };
  await createClient(server.url).request({ method: 'POST', path: '/x', body });
  expect(server.requests[0]?.body).toBe(JSON.stringify(body));
});
