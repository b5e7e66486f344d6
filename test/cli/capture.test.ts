import { expect, test } from 'vitest';
import { parseCapture, parseHeaders } from '../../src/cli/capture.js';

test.each([
  ['an HTTP message', 'POST / HTTP/1.1\r\nX-Timestamp: 17\r\n\r\n{}'],
  ['JSON', ' \n{"headers":{"X-Timestamp":"17"},"rawBody":"{}"}'],
  ['JSON with a byte order mark', '\ufeff{"headers":{"X-Timestamp":"17"},"rawBody":"{}"}'],
])('recognizes that a capture is %s', (_what, text) => {
  expect(parseCapture(Buffer.from(text))).toMatchObject({
    headers: [['X-Timestamp', '17']],
    body: { kind: 'bytes', bytes: Buffer.from('{}') },
  });
});

test.each(["curl 'http://x'", "\n  $ curl -H 'X-Timestamp: 17' -d '{}'"])(
  'refuses the curl command %j',
  (text) => {
    expect(() => parseCapture(Buffer.from(text))).toThrow(/a curl command can't be read/);
  },
);

test.each(['X-Timestamp: 17\n', '{"X-Timestamp":"17"}', '[["X-Timestamp","17"]]'])(
  'reads headers from %j',
  (text) => {
    expect(parseHeaders(Buffer.from(text))).toEqual([['X-Timestamp', '17']]);
  },
);
