import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPayment, toResponse } from '../../src/client/response.js';
import type { ResponseHeaders } from '../../src/errors.js';
import { createClient, httpAnswer, order, record, startRawServer } from './raw-server.js';

const created = async (body: string, contentType?: string, status = 201) => {
  const headers: Record<string, string> =
    contentType === undefined ? {} : { 'content-type': contentType };
  const server = await startRawServer({ answer: () => httpAnswer(status, body, headers) });
  return createClient(server.url).payments.create(order);
};

const json = JSON.stringify(record);

describe('a 2xx', () => {
  it.each([200, 201, 202, 203, 299])('is a success with status %i', async (status) => {
    const { payment, response } = await created(json, 'application/json', status);
    expect(payment).toEqual(record);
    expect(response).toMatchObject({ status, body: record, attempts: 1 });
  });

  it.each<[string, string, string | undefined, unknown]>([
    ['an empty body', '', 'application/json', ''],
    ['markup', '<p>Created</p>', 'text/plain', '<p>Created</p>'],
    ['markup labelled JSON', '<p>Created</p>', 'application/json', '<p>Created</p>'],
    ['broken JSON', '{"referenceNumber":"7b0', 'application/json', '{"referenceNumber":"7b0'],
    ['a JSON string', '"done"', 'application/json', 'done'],
    ['a JSON number', '7', 'application/problem+json; charset=utf-8', 7],
    ['JSON null', 'null', 'Application/JSON', null],
    ['a JSON list', '[1]', 'application/json', [1]],
    ['null as plain text', 'null', 'text/plain', 'null'],
    ['a number as plain text', '404', 'text/plain', '404'],
    ['a number without a type', '404', undefined, '404'],
    ['a quoted word with a type that only mentions JSON', '"a"', 'text/plain; of=x/json', '"a"'],
    ['blanks', '  ', 'application/json', '  '],
  ])('stays a success with %s', async (_what, body, contentType, parsed) => {
    const { payment, response } = await created(body, contentType);
    expect(response.body).toEqual(parsed);
    expect(payment).toEqual({});
  });

  it.each([
    ['as plain text', json, 'text/plain'],
    ['without a type', json, undefined],
    ['behind a byte order mark', `\ufeff${json}`, 'application/json'],
  ])('is understood when its JSON comes %s', async (_how, body, contentType) => {
    const { payment, response } = await created(body, contentType);
    expect(payment).toEqual(record);
    expect(response.body).toEqual(record);
  });

  it('keeps fields that the interface does not show', async () => {
    const body = { ...record, redirectUrl: 'https://pay.example/1', fees: [{ amount: 1 }] };
    expect((await created(JSON.stringify(body))).payment).toEqual(body);
  });

  it('leaves a known field that is no string out of payment, and in response.body', async () => {
    const body = { ...record, status: 3, referenceNumber: null, note: 5 };
    const { payment, response } = await created(JSON.stringify(body), 'application/json');
    const { status: _status, referenceNumber: _number, ...rest } = body;
    expect(payment).toEqual(rest);
    expect(response.body).toEqual(body);
  });
});

const parseBody = (body: Uint8Array, headers: ResponseHeaders): unknown =>
  toResponse({ kind: 'answer', status: 201, headers, body, bodyFailure: undefined }, 1).body;

describe('the body of an answer', () => {
  it('reads bytes that are no UTF-8 as text, without throwing', () => {
    expect(parseBody(Uint8Array.of(0xff, 0xfe, 0x41), {})).toBe('\ufffd\ufffdA');
  });

  it('reads only its own part of a larger buffer', () => {
    const buffer = Buffer.from('xx{"a":1}yy');
    expect(parseBody(new Uint8Array(buffer.buffer, buffer.byteOffset + 2, 7), {})).toEqual({
      a: 1,
    });
  });

  it.each([
    [['application/json', 'application/json'], 7],
    [['text/plain', 'text/plain; of=x/json'], '7'],
  ])('reads a content-type that is sent twice as fetch joins it: %j', (types, value) => {
    expect(parseBody(Buffer.from('7'), { 'content-type': types })).toBe(value);
    expect(parseBody(Buffer.from('7'), { 'content-type': types.join(', ') })).toBe(value);
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.constantFrom('application/json', 'text/html'),
        (bytes, type) => {
          parseBody(bytes, { 'content-type': type });
        },
      ),
    );
  });

  it('gives back any JSON value as it was', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const body = parseBody(Buffer.from(text), { 'content-type': 'application/json' });
        expect(body).toEqual(JSON.parse(text));
      }),
    );
  });
});

it('readPayment takes a key named __proto__ as data', () => {
  const payment = readPayment(JSON.parse('{"__proto__":{"status":"paid"}}'));
  expect(Object.getPrototypeOf(payment)).toBe(Object.prototype);
  expect(payment.status).toBeUndefined();
});
