import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { splitShellWords } from '../../../src/cli/capture/shell-words.js';
import { UsageError } from '../../../src/cli/command.js';

/** The words that bash makes of a command line. */
function splitByBash(source: string): string[] {
  const { stdout } = spawnSync('bash', ['-c', `printf '%s\\0' ${source}`], {
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  });
  return stdout.toString('latin1').split('\0').slice(0, -1);
}

test.each([
  `plain 'single $quoted "text"' "double 'quoted'"`,
  String.raw`'it'\''s' a\ b "a\"b\\c\$d\x"`,
  `''  "" x''y`,
  String.raw`$'tab\tline\nquote\'back\\slash' $'\x41\102\e\a\b\f\v\r\E\"\?'`,
  String.raw`$'\u00e9\u20ac' $'\U1f600' $'\xffe\x0e' $'\q\cA'`,
  'one \\\n  two "three \\\nfour" fi\\\nve',
  '"line\nbreak" \'line\nbreak\'',
  `a=b --x=y -d'{"a":1}' %5B~ a#b # comment 'open`,
])('splits %j as bash does', (source) => {
  expect(splitShellWords(source)).toEqual(splitByBash(source));
});

test('joins a pair of surrogates, as browsers write it, to one character', () => {
  const [word = ''] = splitShellWords(String.raw`$'\ud83d\ude00'`);
  expect(Buffer.from(word, 'latin1').toString()).toBe('😀');
});

test('keeps bytes that are no text', () => {
  expect(splitShellWords("'\xff\xfe' \xe9")).toEqual(['\xff\xfe', '\xe9']);
});

test('takes a quoted text of megabytes', () => {
  const text = 'x'.repeat(8 * 1024 * 1024);
  expect(splitShellWords(`$'${text}'`)).toEqual([text]);
});

test.each([
  ['a $HOME', /a shell would replace/],
  ['a "$(id)"', /a shell would replace/],
  ['a "`id`"', /a shell would replace/],
  ['a `id`', /a shell would replace/],
  ['a | b', /an unquoted \|/],
  ['http://x/?a=1&b=2', /an unquoted &/],
  ['a; b', /an unquoted ;/],
  ['a > b', /an unquoted >/],
  ['a < b', /an unquoted </],
  ['a (b)', /an unquoted \(/],
  ['a\nb', /ends at a line break/],
  ["a 'b", /within a quote/],
  ['a "b', /within a quote/],
  ["a $'b\\'", /within a quote/],
  [String.raw`$'\ud83d'`, /half of a surrogate pair/],
  [String.raw`$'a\x00b'`, /NUL/],
  [String.raw`$'\u0000'`, /NUL/],
  [String.raw`$'\0'`, /NUL/],
  [String.raw`$'\U110000'`, /no character/],
])('refuses %j', (source, message) => {
  expect(() => splitShellWords(source)).toThrow(message);
  expect(() => splitShellWords(source)).toThrow(UsageError);
});

test('takes a line break at the end', () => {
  expect(splitShellWords('a b \r\n\n')).toEqual(['a', 'b']);
});
