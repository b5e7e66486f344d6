import { expect, test } from 'vitest';
import { parseJsonCapture, parseJsonHeaders } from '../../src/cli/capture-formats.js';
import { UsageError } from '../../src/cli/command.js';

const parse = (value: unknown) => parseJsonCapture(Buffer.from(JSON.stringify(value)));
const bytes = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) });

test.each([
  [{ headers: {}, rawBody: 'é' }, bytes('é')],
  [{ headers: {}, rawBodyBase64: 'w6k=' }, bytes('é')],
  [{ headers: {}, rawBody: 'other', rawBodyBase64: 'w6k=' }, bytes('é')],
  [{ headers: {}, body: '{}' }, bytes('{}')],
  [{ headers: {}, body: 'e30=', isBase64Encoded: true }, bytes('{}')],
  [{ headers: {}, body: 'e30=', isBase64Encoded: false }, bytes('e30=')],
  [
    { headers: {}, rawBody: { a: 1 } },
    { kind: 'parsed', value: { a: 1 } },
  ],
  [
    { headers: {}, rawBody: '\ud800' },
    { kind: 'parsed', value: '\ud800' },
  ],
  [{ headers: {} }, { kind: 'none', remedy: expect.stringContaining('neither rawBody nor') }],
])('the body of %j', (capture, expected) => {
  expect(parse(capture).body).toEqual(expected);
});

test.each([
  [{ a: '1', B: ['2', '3'] }],
  [
    [
      ['a', '1'],
      ['B', '2'],
      ['B', '3'],
    ],
  ],
])('reads headers %j', (headers) => {
  const expected = [
    ['a', '1'],
    ['B', '2'],
    ['B', '3'],
  ];
  expect(parse({ headers, rawBody: '' }).headers).toEqual(expected);
  expect(parseJsonHeaders(Buffer.from(`\ufeff${JSON.stringify(headers)}`))).toEqual(expected);
});

test('reads the headers of an AWS Lambda event as the handler does', () => {
  const multiValueHeaders = { A: ['1', '2'] };
  const expected = [
    ['A', '1'],
    ['A', '2'],
  ];
  expect(parse({ multiValueHeaders, body: '' }).headers).toEqual(expected);
  expect(parse({ headers: { A: '2' }, multiValueHeaders, body: '' }).headers).toEqual(expected);
  expect(parse({ headers: { A: '2' }, multiValueHeaders: null, body: '' }).headers).toEqual([
    ['A', '2'],
  ]);
});

test('takes a timestamp that was written as a number', () => {
  expect(parse({ headers: { 'x-timestamp': 17 }, rawBody: '' }).headers).toEqual([
    ['x-timestamp', '17'],
  ]);
});

test.each([
  ['{"a"', /is not valid JSON$/],
  ['[]', /must be a JSON object/],
  ['{"rawBody":""}', /headers must be/],
  ['{"headers":[["a"]],"rawBody":""}', /headers must be/],
  ['{"headers":{"a":{}},"rawBody":""}', /headers must be/],
  ['{"headers":{},"rawBodyBase64":"%%"}', /rawBodyBase64 must be base64/],
  ['{"headers":{},"body":7,"isBase64Encoded":true}', /body must be base64/],
])('refuses %s', (text, message) => {
  expect(() => parseJsonCapture(Buffer.from(text))).toThrow(message);
  expect(() => parseJsonCapture(Buffer.from(text))).toThrow(UsageError);
});
