import { expect, test } from 'vitest';
import type { CapturedCallback } from '../../../src/cli/capture/captured-callback.js';
import { isCurlCommand, parseCurlCommand } from '../../../src/cli/capture/curl-command.js';
import { UsageError } from '../../../src/cli/command.js';

const parse = (text: string): CapturedCallback => parseCurlCommand(Buffer.from(text));

function bodyOf(text: string): string {
  const { body } = parse(text);
  if (body.kind !== 'bytes') throw new Error(`no body: ${JSON.stringify(body)}`);
  return Buffer.from(body.bytes).toString();
}

test.each([
  ['-H', `curl http://x -H 'X-Timestamp: 17' -d '{}'`],
  ['--header', `curl --header "X-Timestamp: 17" --data '{}' http://x`],
  ['a header in one word', `curl -H'X-Timestamp:17' -d{} http://x`],
  ['short options in one word', `curl -sSkXPOST -H 'X-Timestamp:   17  ' -d '{}' http://x`],
  ['a prompt before it', `$ curl -H 'X-Timestamp: 17' -d '{}'`],
  [
    'options that do not matter',
    `curl --compressed -L -A 'a b' --max-time 3 -b 'c=d' -H 'X-Timestamp: 17' -d '{}' -o /dev/null`,
  ],
  ['a path before its name', `/usr/bin/curl -H 'X-Timestamp: 17' -d '{}'`],
  ['a byte order mark', `\ufeffcurl -H 'X-Timestamp: 17' -d '{}'`],
])('reads %s', (_what, command) => {
  const { headers, body } = parse(command);
  expect(headers).toEqual([['X-Timestamp', '17']]);
  expect(body).toEqual({ kind: 'bytes', bytes: Buffer.from('{}') });
});

test('reads headers that are repeated, empty, taken away, and not ASCII', () => {
  expect(
    parse(`curl -H 'A: 1' -H 'A: 2' -H 'Empty;' -H 'Accept:' -H 'B: x:y;z' -H 'C: é' -d ''`)
      .headers,
  ).toEqual([
    ['A', '1'],
    ['A', '2'],
    ['Empty', ''],
    ['B', 'x:y;z'],
    ['C', 'é'],
  ]);
});

test.each([
  [`curl -d a=1 -d b=2`, 'a=1&b=2'],
  [`curl --data-binary 'x\ny '`, 'x\ny '],
  [`curl --data-ascii x`, 'x'],
  [`curl --data-raw '@x'`, '@x'],
  [`curl --json '{"a":' --json '1}'`, '{"a":1}'],
  [`curl -d ''`, ''],
  [String.raw`curl --data-raw $'{"a":"\u00e9\'\u0021"}'`, `{"a":"é'!"}`],
  [`curl --data-raw '{"pattern":"x^","y":"\`"}'`, '{"pattern":"x^","y":"`"}'],
])('the body of %j', (command, expected) => {
  expect(bodyOf(command)).toBe(expected);
});

test('keeps the bytes of a body that is not UTF-8', () => {
  const { body } = parseCurlCommand(
    Buffer.concat([Buffer.from("curl -d 'a"), Buffer.from([0xff, 0xc3]), Buffer.from("'")]),
  );
  expect(body).toEqual({ kind: 'bytes', bytes: Buffer.from([0x61, 0xff, 0xc3]) });
});

test.each(['-d', '--data', '--data-binary', '--data-ascii', '--json'])(
  'reads no file for %s @file, and says what to give',
  (option) => {
    expect(parse(`curl ${option} @/etc/hostname`).body).toEqual({
      kind: 'none',
      remedy: expect.stringMatching(new RegExp(`by ${option} @.*give the file as --body-file`)),
    });
    expect(
      parse(`curl -d 'x' ${option}='@y' ${option} '@/etc/hostname' `.replace(/ \S+='@y'/, '')).body
        .kind,
    ).toBe('none');
  },
);

test('says that there is no body', () => {
  expect(parse('curl http://x').body).toEqual({
    kind: 'none',
    remedy: expect.stringContaining('holds no body'),
  });
});

test.each([
  ['wget http://x', /must begin with curl/],
  ['curl --no-such x', /has --no-such, which is not understood/],
  ['curl -@ x', /not understood/],
  ['curl -H', /ends after -H/],
  ['curl -H @headers.txt -d x', /give it as --headers-file/],
  ['curl --data-urlencode a=b', /has --data-urlencode/],
  ['curl -F a=b', /has -F/],
  ['curl -T file', /has -T/],
  ['curl -G -d a', /has -G/],
  ['curl ^"http://x^" ^\r\n  -H ^"A: 1^"', /Windows cmd/],
  ['curl "http://x" ^\r\n  -H "A: 1"', /Windows cmd/],
  ['curl.exe "http://x" `\n  -H "A: 1"', /PowerShell/],
  ['Invoke-WebRequest -Uri "http://x"', /PowerShell/],
  ['$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession', /PowerShell/],
  ["curl 'http://x' | jq", /unquoted \|/],
])('refuses %j', (command, message) => {
  expect(() => parse(command)).toThrow(message);
  expect(() => parse(command)).toThrow(UsageError);
});

test.each([
  ['curl http://x', true],
  ['  $ curl -v', true],
  ["curl 'x'", true],
  ['curl.exe "x"', true],
  ['curly: 1', false],
  ['curl: 1', false],
  ['POST / HTTP/1.1', false],
])('%j is a curl command: %s', (text, expected) => {
  expect(isCurlCommand(text)).toBe(expected);
});
