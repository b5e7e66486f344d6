import { parseArgs } from 'node:util';
import { nearest } from '../protocol/nearest.js';
import { type Command, commonOptions, type Options, UsageError } from './command.js';

/** The options of a command, with those that every command takes. */
export const optionsOf = ({ options }: Pick<Command, 'options'>): Options => ({
  ...options,
  ...commonOptions,
});

/** The words after a command's name: texts of the options (empty for a switch), and other words. */
export interface Given {
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

/**
 * Divides the words after a command's name. Stricter than parseArgs: an option that is not a list may
 * be given once.
 *
 * @throws {UsageError} for an unknown option, a missing value, a value where none is taken
 */
export function parseArguments(command: Pick<Command, 'options'>, words: readonly string[]): Given {
  const options = optionsOf(command);
  const specs = Object.entries(options).map(([name, { type }]) => [name, { type, multiple: true }]);
  // Not parseArgs's own strictness: its errors quote words, and a word can be a secret.
  const { positionals, tokens } = parseArgs({
    args: [...words],
    options: { ...Object.fromEntries(specs), help: { type: 'boolean', short: 'h' } },
    strict: false,
    tokens: true,
  });
  const texts = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, value = '' } = token;
    assertOption(options, token);
    const before = texts.get(name);
    if (before !== undefined && options[name]?.multiple !== true) {
      throw new UsageError(`--${name} was given twice: give it once`);
    }
    texts.set(name, [...(before ?? []), value]);
  }
  return { texts, words: positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function assertOption(options: Options, { name, rawName, value, inlineValue }: OptionToken): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const close = nearest(rawName.replace(/^--?/, ''), Object.keys(options));
    const remedy = close === undefined ? `see the command's --help` : `did you mean --${close}?`;
    throw new UsageError(`unknown option ${rawName}; ${remedy}`);
  }
  if (option.type === 'boolean') {
    if (value === undefined) return;
    throw new UsageError(`--${name} takes no value, but one was given`);
  }
  const placeholder = option.value ?? 'value';
  if (value === undefined) {
    throw new UsageError(`--${name} needs a value: --${name} <${placeholder}>`);
  }
  if (inlineValue !== true && value.startsWith('-') && value !== '-') {
    throw new UsageError(
      `--${name} needs a value, but another option follows; write --${name}=<${placeholder}> for one that begins with a dash`,
    );
  }
}

/**
 * What the options of a command give.
 *
 * @throws {UsageError} naming an option whose text is invalid, or that is missing
 */
export function readOptions(
  command: Pick<Command, 'options'>,
  { texts }: Given,
): Readonly<Record<string, unknown>> {
  const values = Object.entries(optionsOf(command)).map(([name, { read }]) => [
    name,
    read(texts.get(name) ?? [], `--${name}`),
  ]);
  return Object.fromEntries(values);
}

/**
 * The words that are not options, which must be exactly as many as `names`.
 *
 * @throws {UsageError} naming the first that is missing, or saying that there are too many
 */
export function requireWords(words: readonly string[], names: readonly string[]): void {
  // An empty word, as an unset variable of a script leaves it, would be the beginning of every id.
  const missing = names.find((_name, index) => !words[index]);
  if (missing !== undefined)
    throw new UsageError(`<${missing}> is missing; see the command's --help`);
  if (words.length <= names.length) return;
  const expected = names.length === 0 ? 'none' : names.map((name) => `<${name}>`).join(' ');
  throw new UsageError(
    `there are too many words: ${expected} expected beside the options, received ${words.length}`,
  );
}
