import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { parseCapture } from '../../src/cli/commands/callback-verify.js';

const parse = (text: string | Buffer) => parseCapture(Buffer.from(text));
const bodyOf = (text: string | Buffer) =>
  Buffer.from(parse(text).rawBody as Uint8Array).toString('latin1');

describe('an HTTP message', () => {
  const headers = [
    ['Content-Type', 'application/json'],
    ['X-Timestamp', '17'],
  ];
  const head = [
    'POST /callbacks?a=b HTTP/1.1',
    'Content-Type: application/json',
    'X-Timestamp:17  ',
  ];

  test.each([
    ['CRLF', [...head, '', '{}'].join('\r\n')],
    ['LF', [...head, '', '{}'].join('\n')],
    ['no request line', [...head.slice(1), '', '{}'].join('\n')],
    ['empty lines before it', ['', '', ...head, '', '{}'].join('\r\n')],
    ['a byte order mark', `\ufeff${[...head, '', '{}'].join('\r\n')}`],
  ])('is read with %s', (_what, text) => {
    expect(parse(text)).toMatchObject({ headers, rawBody: Buffer.from('{}') });
  });

  test.each([
    ['A: 1\r\n\r\n', '\r\n\r\n \xff\x00\n\n'],
    ['A: 1\n\n', ''],
    ['Content-Length: 2\n\n', '{"a":1}'],
    ['Content-Length: 2\n\n', '{'],
  ])('after %j has the body %j, byte for byte', (head, body) => {
    expect(bodyOf(Buffer.from(head + body, 'latin1'))).toBe(body);
  });

  test('leaves out the line break of an editor behind Content-Length', () => {
    expect(bodyOf('Content-Length: 2\n\n{}\n')).toBe('{}');
  });
});

describe('JSON', () => {
  test.each([
    [{ rawBody: 'é' }, 'é'],
    [{ rawBodyBase64: 'w6k=' }, Buffer.from('é')],
    [{ rawBody: 'other', rawBodyBase64: 'w6k=' }, Buffer.from('é')],
    [{ rawBody: { a: 1 } }, { a: 1 }],
  ])('has the body of %j', (capture, rawBody) => {
    const headers = { a: '1', B: ['2', '3'] };
    const text = JSON.stringify({ headers, ...capture });
    for (const before of ['', ' \n', '\ufeff']) {
      expect(parse(before + text)).toMatchObject({ headers, rawBody });
    }
  });
});

test.each([
  ['A: 1\nB: 2', /no empty line/],
  ['A: 1\n folded\n\n', /line 2/],
  ['no header at all\n\n', /line 1/],
  ['{"a"', /is not valid JSON$/],
  ['{"headers":{},"rawBody":null}', /neither rawBody nor rawBodyBase64/],
  ['{"headers":{},"body":"e30=","isBase64Encoded":true}', /neither rawBody nor rawBodyBase64/],
  ['{"headers":{},"rawBodyBase64":"%%"}', /rawBodyBase64 must be base64/],
  ['{"headers":{},"rawBodyBase64":7}', /rawBodyBase64 must be base64/],
  ["\n  $ curl -H 'X-Timestamp: 17' -d '{}'", /a curl command can't be read/],
])('%j is refused', (text, message) => {
  expect(() => parse(text)).toThrow(message);
  expect(() => parse(text)).toThrow(UsageError);
});
