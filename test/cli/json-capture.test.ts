import { expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { parseCapture } from '../../src/cli/commands/callback-verify.js';

const parse = (value: unknown) => parseCapture(Buffer.from(JSON.stringify(value)));

test.each([
  [{ rawBody: 'é' }, 'é'],
  [{ rawBodyBase64: 'w6k=' }, Buffer.from('é')],
  [{ rawBody: 'other', rawBodyBase64: 'w6k=' }, Buffer.from('é')],
  [{ rawBody: { a: 1 } }, { a: 1 }],
  [{ rawBody: '\ud800' }, '\ud800'],
])('the body of %j', (capture, expected) => {
  expect(parse({ headers: {}, ...capture }).rawBody).toEqual(expected);
});

test('reads headers of one or of several values', () => {
  const headers = { a: '1', B: ['2', '3'] };
  expect(parse({ headers, rawBody: '' }).headers).toEqual(headers);
});

test.each([
  ['{"a"', /is not valid JSON$/],
  ['{"headers":{}}', /neither rawBody nor rawBodyBase64/],
  ['{"headers":{},"rawBody":null}', /neither rawBody nor rawBodyBase64/],
  ['{"headers":{},"body":"e30=","isBase64Encoded":true}', /neither rawBody nor rawBodyBase64/],
  ['{"headers":{},"rawBodyBase64":"%%"}', /rawBodyBase64 must be base64/],
  ['{"headers":{},"rawBodyBase64":7}', /rawBodyBase64 must be base64/],
])('refuses %s', (text, message) => {
  expect(() => parseCapture(Buffer.from(text))).toThrow(message);
  expect(() => parseCapture(Buffer.from(text))).toThrow(UsageError);
});
