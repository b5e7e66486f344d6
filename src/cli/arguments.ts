import { parseArgs } from 'node:util';
import { nearest } from '../protocol/nearest.js';
import { type Arguments, type Command, type OptionSpec, UsageError } from './command.js';

/** What every command takes. */
export const commonOptions: Readonly<Record<string, OptionSpec>> = {
  json: { type: 'boolean', help: 'Prints JSON on stdout and nothing else there.' },
  help: { type: 'boolean', help: 'Prints this help.' },
};

/** The options of a command, with those that every command takes. */
export function optionsOf(command: Pick<Command, 'options'>): Readonly<Record<string, OptionSpec>> {
  return { ...command.options, ...commonOptions };
}

/**
 * What the words after a command's name give. Stricter than parseArgs: an option that is no list may
 * be given once.
 *
 * @throws {UsageError} for an unknown option, a missing value, a value where none is taken
 */
export function parseArguments(
  command: Pick<Command, 'options'>,
  words: readonly string[],
): Arguments {
  const options = optionsOf(command);
  // Not parseArgs's own strictness: its errors quote words, and a word can be a secret.
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: {
      ...Object.fromEntries(
        Object.entries(options).map(([name, { type, multiple = false }]) => [
          name,
          { type, multiple },
        ]),
      ),
      help: { type: 'boolean', short: 'h' },
    },
    strict: false,
    tokens: true,
  });
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    assertOption(options, token);
    if (seen.has(token.name) && options[token.name]?.multiple !== true) {
      throw new UsageError(`--${token.name} was given twice: give it once`);
    }
    seen.add(token.name);
  }
  return { values, positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function assertOption(
  options: Readonly<Record<string, OptionSpec>>,
  { name, rawName, value, inlineValue }: OptionToken,
): void {
  const spec = Object.hasOwn(options, name) ? options[name] : undefined;
  if (spec === undefined) throw unknownOption(options, rawName);
  if (spec.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`--${name} takes no value, but one came`);
    return;
  }
  const placeholder = spec.value ?? 'value';
  if (value === undefined)
    throw new UsageError(`--${name} needs a value: --${name} <${placeholder}>`);
  if (inlineValue !== true && value.startsWith('-') && value !== '-') {
    throw new UsageError(
      `--${name} needs a value, but another option follows; write --${name}=<${placeholder}> for one that begins with a dash`,
    );
  }
}

function unknownOption(options: Readonly<Record<string, OptionSpec>>, rawName: string): UsageError {
  const close = nearest(rawName.replace(/^--?/, ''), Object.keys(options));
  const remedy = close === undefined ? 'see --help' : `did you mean --${close}?`;
  return new UsageError(`unknown option ${rawName}; ${remedy}`);
}

/** The text of an option; `undefined` when it was not given. */
export function readText({ values }: Arguments, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a switch was given. */
export function readSwitch({ values }: Arguments, name: string): boolean {
  return values[name] === true;
}

/** The texts of an option that may be given several times. */
export function readList({ values }: Arguments, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** @throws {UsageError} naming the option */
export function requireText(given: Arguments, name: string, placeholder: string): string {
  const text = readText(given, name);
  if (text === undefined)
    throw new UsageError(`--${name} is missing: give --${name} <${placeholder}>`);
  return text;
}

/**
 * The words that are no options, which must be exactly as many as `names`.
 *
 * @throws {UsageError} naming the first that is missing, or saying that there are too many
 */
export function requirePositionals(
  { positionals }: Arguments,
  ...names: readonly string[]
): readonly string[] {
  // An empty word, as an unset variable of a script leaves it, would be the beginning of every id.
  const missing = names.find((_name, index) => !positionals[index]);
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing; see --help`);
  if (positionals.length > names.length) {
    const expected = names.length === 0 ? 'none' : names.map((name) => `<${name}>`).join(' ');
    throw new UsageError(
      `there are words too many: ${expected} expected beside the options, but ${positionals.length} came`,
    );
  }
  return positionals;
}
