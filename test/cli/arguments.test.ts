import { describe, expect, test } from 'vitest';
import { parseArguments, readOptions, requireWords } from '../../src/cli/arguments.js';
import { flag, list, required, text, UsageError, withDefault } from '../../src/cli/command.js';

const options = {
  port: text({ value: 'port', help: '' }),
  match: list({ help: '' }),
  fast: flag(''),
  'callback-url': text({ value: 'url', help: '' }),
};

const parse = (...words: string[]) => parseArguments({ options }, words);
const read = (...words: string[]) => readOptions({ options }, parse(...words));

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
  test('give texts, switches, lists and the other arguments', () => {
    const words = ['one', '--port', '1', '--match=a=b', '--fast', '--match', 'c', 'two'];
    expect(read(...words)).toMatchObject({ port: '1', fast: true, match: ['a=b', 'c'] });
    expect(parse(...words).words).toEqual(['one', 'two']);
  });

  test('leave out what was not given', () => {
    expect(read()).toMatchObject({ port: undefined, fast: false, match: [] });
  });

  test('may begin with a dash behind an equals sign or two dashes', () => {
    expect(read('--port=-1')['port']).toBe('-1');
    expect(parse('--', '--port').words).toEqual(['--port']);
    expect(read('--port', '-')['port']).toBe('-');
  });

  test.each([
    ['an unknown option', ['--nonsense'], "unknown option --nonsense; see the command's --help"],
    ['a misspelt option', ['--prot', '1'], 'unknown option --prot; did you mean --port?'],
    [
      'a part of an option',
      ['--callback', 'x'],
      'unknown option --callback; did you mean --callback-url?',
    ],
    ['a missing value', ['--port'], '--port needs a value: --port <port>'],
    ['an option where a value was due', ['--port', '--fast'], 'write --port=<port>'],
    ['a value of a switch', ['--fast=yes'], '--fast takes no value'],
    ['an option given twice', ['--port', '1', '--port', '2'], '--port was given twice'],
  ])('are refused for %s', (_what, words, message) => {
    expect(refusalOf(() => parse(...words))).toContain(message);
  });

  test('are never quoted, since they may be secrets', () => {
    for (const words of [['--nonsense=hunter2'], ['--port', '-hunter2'], ['--fast=hunter2']]) {
      expect(refusalOf(() => parse(...words))).not.toContain('hunter2');
    }
    expect(refusalOf(() => requireWords(['hunter2'], []))).not.toContain('hunter2');
  });
});

describe('what a command requires', () => {
  test('is refused with the name of the option that is missing', () => {
    const own = { options: { port: required(options.port) } };
    expect(readOptions(own, parse('--port', '1'))['port']).toBe('1');
    expect(refusalOf(() => readOptions(own, parse()))).toBe(
      '--port is missing: give --port <port>',
    );
  });

  test('may have a default', () => {
    const own = { options: { port: withDefault(options.port, '4242') } };
    expect(readOptions(own, parse())['port']).toBe('4242');
    expect(readOptions(own, parse('--port='))['port']).toBe('');
  });

  test('is as many words as it names', () => {
    const names = ['first', 'second'];
    expect(() => requireWords(['a', 'b'], names)).not.toThrow();
    expect(refusalOf(() => requireWords(['a'], names))).toContain('<second> is missing');
    expect(refusalOf(() => requireWords(['a', 'b'], ['first']))).toContain(
      'too many arguments: expected <first>, received 2',
    );
    expect(refusalOf(() => requireWords(['a'], []))).toContain('expected none');
  });
});
