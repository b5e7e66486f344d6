import { expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { parseCapture } from '../../src/cli/commands/callback-verify.js';

const headers = [
  ['Content-Type', 'application/json'],
  ['X-Timestamp', '17'],
];
const head = ['POST /callbacks?a=b HTTP/1.1', 'Content-Type: application/json', 'X-Timestamp:17  '];

function parse(text: string | Buffer) {
  const request = parseCapture(Buffer.from(text));
  const body = Buffer.from(request.rawBody as Uint8Array).toString('latin1');
  return { headers: request.headers, body };
}

test.each([
  ['CRLF', [...head, '', '{}'].join('\r\n')],
  ['LF', [...head, '', '{}'].join('\n')],
  ['no request line', [...head.slice(1), '', '{}'].join('\n')],
  ['empty lines before it', ['', '', ...head, '', '{}'].join('\r\n')],
  ['a byte order mark', `\ufeff${[...head, '', '{}'].join('\r\n')}`],
])('reads a message with %s', (_what, text) => {
  expect(parse(text)).toEqual({ headers, body: '{}' });
});

test('the body is what follows the empty line, byte for byte', () => {
  const body = Buffer.from('\r\n\r\n \xff\x00\n\n', 'latin1');
  expect(parse(Buffer.concat([Buffer.from('A: 1\r\n\r\n'), body])).body).toBe(
    body.toString('latin1'),
  );
});

test('a body may be empty', () => {
  expect(parse('A: 1\n\n').body).toBe('');
});

test('says that a message without an empty line has no body', () => {
  expect(() => parse('A: 1\nB: 2')).toThrow(UsageError);
  expect(() => parse('A: 1\nB: 2')).toThrow('no empty line');
});

test.each([
  ['A: 1\n\n{"a":\n1}', 'header'],
  ['A: 1\n folded\n\n', 'line 2'],
  ['no header at all\n\n', 'line 1'],
])('of %j a line that is no header is refused', (text, part) => {
  if (text.startsWith('A: 1\n\n')) {
    expect(parse(text).body).toBe('{"a":\n1}');
    return;
  }
  expect(() => parse(text)).toThrow(UsageError);
  expect(() => parse(text)).toThrow(part);
});

test('leaves out the line break of an editor behind Content-Length', () => {
  expect(parse('Content-Length: 2\n\n{}\n').body).toBe('{}');
});

test.each(['{"a":1}', '{'])('keeps a body of %j that Content-Length does not fit', (body) => {
  expect(parse(`Content-Length: 2\n\n${body}`).body).toBe(body);
});
