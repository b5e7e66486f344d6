import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCurlCommand } from '../../src/cli/commands/callback-sign.js';
import { parseCapture } from '../../src/cli/commands/callback-verify.js';

const headers = { 'content-type': 'application/json', 'x-timestamp': '17', 'x-signature': 'ab' };

const request = (rawBody: string, url = 'http://127.0.0.1:3000/callbacks?a=b') => ({
  url,
  headers,
  rawBody,
});

test('a curl command', () => {
  expect(toCurlCommand(request(`{"a":"it's"}`))).toEqual([
    "curl -i 'http://127.0.0.1:3000/callbacks?a=b' \\",
    "  -H 'content-type: application/json' \\",
    "  -H 'x-timestamp: 17' \\",
    "  -H 'x-signature: ab' \\",
    `  --data-raw '{"a":"it'\\''s"}'`,
  ]);
});

test('brackets in a URL are not expanded by curl', () => {
  expect(toCurlCommand(request('', 'http://[::1]:3000/'))[0]).toMatch(
    /^curl -i --globoff 'http:\/\/\[::1\]/,
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
  expect(curlArguments(toCurlCommand(made).join('\n'))).toEqual([
    '-i',
    made.url,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    '--data-raw',
    body,
  ]);
  const json = parseCapture(Buffer.from(JSON.stringify({ method: 'POST', ...made })));
  expect(json.request).toEqual({ headers, rawBody: body });
});
