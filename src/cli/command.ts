import type { Layout } from './layout.js';
import type { Terminal } from './terminal.js';

/** The exit code: 0 for success, 1 for a failure of the command or of a check, 2 for an invalid command line. */
export type ExitCode = 0 | 1 | 2;

/** The command line is invalid: one line on stderr, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option of a command, for the parser and for the help. */
export interface Option<Value = unknown> {
  readonly type: 'string' | 'boolean';
  /** Whether it may be repeated. */
  readonly multiple?: boolean;
  /** The placeholder of the value in the help, for example `url`. */
  readonly value?: string;
  /** What it does, its range and its default, in one line. */
  readonly help: string;
  /** @throws {UsageError} when a text is invalid; `name` is the option with its dashes */
  readonly read: (texts: readonly string[], name: string) => Value;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of the options, by name. */
export type Values<All extends Options> = {
  readonly [Name in keyof All]: All[Name] extends Option<infer Value> ? Value : never;
};

type Parse<Value> = (name: string, text: string) => Value;
type Help = Pick<Option, 'value' | 'help'>;

/** A switch. */
export const flag = (help: string): Option<boolean> => ({
  type: 'boolean',
  help,
  read: (texts) => texts.length > 0,
});

/** A text; `undefined` when it is missing. */
export const text = (help: Help): Option<string | undefined> =>
  parsed(help, (_name, given) => given);

/** A text that may be repeated. */
export const list = (help: Help): Option<readonly string[]> => ({
  type: 'string',
  multiple: true,
  ...help,
  read: (texts) => texts,
});

/** A text that is parsed; `undefined` when it is missing. */
export const parsed = <Value>(help: Help, parse: Parse<Value>): Option<Value | undefined> => ({
  type: 'string',
  ...help,
  read: ([given], name) => (given === undefined ? undefined : parse(name, given)),
});

/** An option with a default. */
export const withDefault = <Value>(
  option: Option<Value | undefined>,
  fallback: Value,
): Option<Value> => ({ ...option, read: (texts, name) => option.read(texts, name) ?? fallback });

/** An option that must be given. */
export const required = <Value>(option: Option<Value | undefined>): Option<Value> => ({
  ...option,
  read(texts, name) {
    const value = option.read(texts, name);
    if (value !== undefined) return value;
    throw new UsageError(`${name} is missing: give ${name} <${option.value ?? 'value'}>`);
  },
});

/** The options of every command. */
export const commonOptions = {
  dotenv: text({
    value: 'file',
    help: 'A file with MERCHANT_PAYMENTS_ variables that the environment lacks. Default: .env, if it exists',
  }),
  json: flag('Prints only JSON on stdout.'),
  help: flag('Prints this help.'),
};

/** The input of a command. */
export interface Call<Own extends Options = Options> {
  readonly options: Values<Own & typeof commonOptions>;
  /** The arguments that are not options. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
}

/** What a command prints: JSON with `--json`, otherwise the lines. */
export interface Outcome {
  readonly json: unknown;
  /** For people, on stdout. */
  readonly lines?: (layout: Layout) => readonly string[];
  /** For people, on stderr. */
  readonly note?: string | undefined;
  /** What went wrong, though the command did its work: printed as an error, with the exit code 1. */
  readonly failure?: string | undefined;
  /** @default 0 */
  readonly code?: ExitCode;
}

/** A term, and its explanation beside it. */
export interface Definition {
  readonly term: string;
  readonly text: string;
}

/** What a module in `commands/` exports. */
export interface Command<Own extends Options = Options> {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The names of its arguments, for example `['status']`: exactly these must be given. */
  readonly positionals?: readonly string[];
  readonly options: Own;
  /** Further paragraphs and definitions for the help, after the options. */
  readonly details?: readonly (string | Definition)[];
  /** Working command lines, for the help. */
  readonly examples: readonly string[];
  /** Resolves with nothing when it has printed its output itself. */
  run(call: Call<Own>): Promise<Outcome | undefined>;
}

/** Defines a command whose `run` gets typed options. */
export const defineCommand = <const Own extends Options>(command: Command<Own>): Command =>
  command as unknown as Command;
