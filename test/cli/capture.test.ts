import { expect, test } from 'vitest';
import { parseCapture } from '../../src/cli/commands/callback-verify.js';

test.each([
  ['an HTTP message', 'POST / HTTP/1.1\r\nX-Timestamp: 17\r\n\r\n{}', [['X-Timestamp', '17']]],
  ['JSON', ' \n{"headers":{"X-Timestamp":"17"},"rawBodyBase64":"e30="}', { 'X-Timestamp': '17' }],
  [
    'JSON with a byte order mark',
    '\ufeff{"headers":{"X-Timestamp":"17"},"rawBodyBase64":"e30="}',
    { 'X-Timestamp': '17' },
  ],
])('recognizes that a capture is %s', (_what, text, headers) => {
  expect(parseCapture(Buffer.from(text))).toMatchObject({
    headers,
    rawBody: Buffer.from('{}'),
  });
});

test.each(["curl 'http://x'", "\n  $ curl -H 'X-Timestamp: 17' -d '{}'"])(
  'refuses the curl command %j',
  (text) => {
    expect(() => parseCapture(Buffer.from(text))).toThrow(/a curl command can't be read/);
  },
);
