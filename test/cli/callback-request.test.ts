import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parseHttpMessage, parseJsonCapture } from '../../src/cli/capture-formats.js';
import { UsageError } from '../../src/cli/command.js';
import {
  type CallbackRequest,
  isPrintable,
  toCurlCommand,
  toHttpMessage,
  toJsonCapture,
} from '../../src/cli/outgoing.js';

const headers = { 'content-type': 'application/json', 'x-timestamp': '17', 'x-signature': 'ab' };

function request(
  body: string | Uint8Array,
  url = 'http://127.0.0.1:3000/callbacks?a=b',
): CallbackRequest {
  return { url: new URL(url), headers, rawBody: Buffer.from(body) };
}

test('a curl command', () => {
  expect(
    toCurlCommand(request(`{"a":"it's"}`)),
  ).toBe(`curl -i 'http://127.0.0.1:3000/callbacks?a=b' \\
  -H 'content-type: application/json' \\
  -H 'x-timestamp: 17' \\
  -H 'x-signature: ab' \\
  --data-raw '{"a":"it'\\''s"}'
`);
});

test('brackets in a URL are not expanded by curl', () => {
  expect(toCurlCommand(request('', 'http://[::1]:3000/'))).toMatch(
    /^curl -i --globoff 'http:\/\/\[::1\]/,
  );
});

test('an HTTP message', () => {
  expect(toHttpMessage(request('é')).toString()).toBe(
    [
      'POST /callbacks?a=b HTTP/1.1',
      'host: 127.0.0.1:3000',
      'content-type: application/json',
      'x-timestamp: 17',
      'x-signature: ab',
      'content-length: 2',
      '',
      'é',
    ].join('\r\n'),
  );
});

/** What sh hands to curl. */
function curlArguments(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout } = spawnSync('sh', ['-c', script], { env: { PATH: process.env['PATH'] } });
  return stdout.toString().split('\0').slice(0, -1);
}

const BODIES = [
  '',
  '{}',
  `'"$(id)\`id\`!\\n\\`,
  '@/etc/hostname',
  '-d',
  'a\n\r\n b \t',
  '\ufeffé😀',
];

test.each(BODIES)('each form of %j is read back as the same bytes', (body) => {
  const made = request(body);
  const pairs = Object.entries(headers);
  const rawBody = Buffer.from(body);
  expect(curlArguments(toCurlCommand(made))).toEqual([
    '-i',
    made.url.href,
    ...pairs.flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    '--data-raw',
    body,
  ]);
  const json = parseJsonCapture(Buffer.from(JSON.stringify(toJsonCapture(made))));
  expect(json.request).toEqual({ headers, rawBody });
  const message = parseHttpMessage(toHttpMessage(made));
  expect(message.request.rawBody).toEqual(rawBody);
  expect(message.request.headers).toEqual(expect.arrayContaining(pairs));
});

test('bytes that are not text survive an HTTP message and JSON', () => {
  const bytes = Buffer.from([0xff, 0x00, 0x0a]);
  expect(parseHttpMessage(toHttpMessage(request(bytes))).request.rawBody).toEqual(bytes);
  const json = toJsonCapture(request(bytes));
  expect(json).not.toHaveProperty('rawBody');
  expect(parseJsonCapture(Buffer.from(JSON.stringify(json))).request.rawBody).toEqual(bytes);
});

test.each([
  ['bytes that are not text', Buffer.from([0xff]), /--output json, which has them in base64/],
  ['NUL', 'a\0b', /--output json, which has them in base64/],
  ['a long body', 'x'.repeat(100_001), /100001 bytes is too long/],
])('no curl command is made for %s', (_what, body, message) => {
  expect(() => toCurlCommand(request(body))).toThrow(message);
  expect(() => toCurlCommand(request(body))).toThrow(UsageError);
});

test('the longest body of a curl command', () => {
  expect(toCurlCommand(request('x'.repeat(100_000)))).toContain('xxx');
});

test.each([
  ['{"a":"é"}\r\n\t', true],
  ['\u001b[2J', false],
  ['\u202e', false],
])('%j can be shown on a terminal: %s', (body, expected) => {
  expect(isPrintable(Buffer.from(body))).toBe(expected);
});

test('bytes that are not text cannot be shown on a terminal', () => {
  expect(isPrintable(Buffer.from([0xff]))).toBe(false);
});
