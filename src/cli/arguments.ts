import { parseArgs } from 'node:util';
import { nearestOption } from '../protocol/options.js';
import { type Command, commonOptions, type Options, UsageError } from './command.js';

/** Returns the options of a command, including those that every command has. */
export const optionsOf = ({ options }: Pick<Command, 'options'>): Options => ({
  ...options,
  ...commonOptions,
});

/** The words after a command's name. */
export interface Given {
  /** The texts of each option that is given; empty for a switch. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** The arguments that are not options. */
  readonly words: readonly string[];
}

/** Separates options and arguments. Stricter than parseArgs: only a list may be repeated. */
export function parseArguments(command: Pick<Command, 'options'>, words: readonly string[]): Given {
  const options = optionsOf(command);
  const specs = Object.entries(options).map(([name, { type }]) => [name, { type, multiple: true }]);
  // Not parseArgs's strict mode: its errors quote words, and a word may be a secret.
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
    const close = nearestOption(rawName.replace(/^--?/, ''), Object.keys(options));
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
      `--${name} needs a value, but another option follows; write --${name}=<${placeholder}> for a value that begins with a dash`,
    );
  }
}

/** Returns the values of a command's options, by name. */
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

/** Checks that there are exactly as many arguments as `names`. */
export function requireWords(words: readonly string[], names: readonly string[]): void {
  // An unset shell variable leaves an empty word, which every id begins with.
  const missing = names.find((_name, index) => !words[index]);
  if (missing !== undefined)
    throw new UsageError(`<${missing}> is missing; see the command's --help`);
  if (words.length <= names.length) return;
  const expected = names.length === 0 ? 'none' : names.map((name) => `<${name}>`).join(' ');
  throw new UsageError(
    `there are too many arguments: expected ${expected}, received ${words.length}`,
  );
}
