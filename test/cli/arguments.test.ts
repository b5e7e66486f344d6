import { describe, expect, test } from 'vitest';
import {
  parseArguments,
  readList,
  readSwitch,
  readText,
  requirePositionals,
  requireText,
} from '../../src/cli/arguments.js';
import { type OptionSpec, UsageError } from '../../src/cli/command.js';

const options: Readonly<Record<string, OptionSpec>> = {
  port: { type: 'string', value: 'port', help: '' },
  match: { type: 'string', multiple: true, help: '' },
  fast: { type: 'boolean', help: '' },
};

const parse = (...words: string[]) => parseArguments({ options }, words);

function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error('It was accepted');
}

describe('the words after a command', () => {
  test('give texts, switches, lists and the words that are no options', () => {
    const given = parse('one', '--port', '1', '--match=a=b', '--fast', '--match', 'c', 'two');
    expect(readText(given, 'port')).toBe('1');
    expect(readSwitch(given, 'fast')).toBe(true);
    expect(readList(given, 'match')).toEqual(['a=b', 'c']);
    expect(given.positionals).toEqual(['one', 'two']);
  });

  test('leave out what was not given', () => {
    const given = parse();
    expect(readText(given, 'port')).toBeUndefined();
    expect(readSwitch(given, 'fast')).toBe(false);
    expect(readList(given, 'match')).toEqual([]);
  });

  test('know --json, --help and -h for every command', () => {
    expect(readSwitch(parse('--json'), 'json')).toBe(true);
    expect(readSwitch(parse('--help'), 'help')).toBe(true);
    expect(readSwitch(parse('-h'), 'help')).toBe(true);
  });

  test('may begin with a dash behind an equals sign or two dashes', () => {
    expect(readText(parse('--port=-1'), 'port')).toBe('-1');
    expect(parse('--', '--port').positionals).toEqual(['--port']);
    expect(readText(parse('--port', '-'), 'port')).toBe('-');
  });

  test('may hold an empty value', () => {
    expect(readText(parse('--port='), 'port')).toBe('');
    expect(readText(parse('--port', ''), 'port')).toBe('');
  });

  test.each([
    ['an unknown option', ['--nonsense'], 'unknown option --nonsense; see --help'],
    ['a misspelt option', ['--prot', '1'], 'unknown option --prot; did you mean --port?'],
    ['an unknown short option', ['-x'], 'unknown option -x'],
    ["the name of an object's own method", ['--toString'], 'unknown option --toString'],
    ['a missing value', ['--port'], '--port needs a value: --port <port>'],
    ['an option where a value was due', ['--port', '--fast'], 'write --port=<port>'],
    ['a value of a switch', ['--fast=yes'], '--fast takes no value'],
    ['an option given twice', ['--port', '1', '--port', '2'], '--port was given twice'],
    ['a switch given twice', ['--fast', '--fast'], '--fast was given twice'],
  ])('are refused for %s', (_what, words, message) => {
    expect(refusalOf(() => parse(...words))).toContain(message);
  });

  test('are never quoted, since they may be secrets', () => {
    for (const words of [['--nonsense=hunter2'], ['--port', '-hunter2'], ['--fast=hunter2']]) {
      expect(refusalOf(() => parse(...words))).not.toContain('hunter2');
    }
    expect(refusalOf(() => requirePositionals(parse('hunter2')))).not.toContain('hunter2');
  });
});

describe('what a command requires', () => {
  test('is refused with the name of the option that is missing', () => {
    expect(requireText(parse('--port', '1'), 'port', 'port')).toBe('1');
    expect(refusalOf(() => requireText(parse(), 'port', 'n'))).toBe(
      '--port is missing: give --port <n>',
    );
  });

  test('is as many words as it names', () => {
    expect(requirePositionals(parse('a', 'b'), 'first', 'second')).toEqual(['a', 'b']);
    expect(refusalOf(() => requirePositionals(parse('a'), 'first', 'second'))).toContain(
      '<second> is missing',
    );
    expect(refusalOf(() => requirePositionals(parse('a', 'b'), 'first'))).toContain(
      '<first> expected beside the options, but 2 came',
    );
    expect(refusalOf(() => requirePositionals(parse('a')))).toContain('none expected');
  });

  test('is no empty word, as an unset variable leaves one', () => {
    expect(refusalOf(() => requirePositionals(parse('', 'b'), 'first', 'second'))).toContain(
      '<first> is missing',
    );
  });
});
