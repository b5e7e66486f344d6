import type { Layout } from './layout.js';
import type { Terminal } from './output.js';

/** The process's exit code: 0 done, 1 it failed (or a check did), 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2;

/** The command line is wrong: one line on stderr, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option of a command: for parsing, and for its help. */
export interface Option<Value = unknown> {
  readonly type: 'string' | 'boolean';
  /** May be given several times. */
  readonly multiple?: boolean;
  /** What stands for the value in the help, for example `url`. */
  readonly value?: string;
  /** What it does, its range and its default, in a line. */
  readonly help: string;
  /** The values it takes, where they are few: for completion. */
  readonly choices?: readonly string[];
  /** The option of the package that it sets, where the name is another one. */
  readonly sets?: string;
  /** @throws {UsageError} when a text that was given is invalid; `name` is the option with its dashes */
  readonly read: (texts: readonly string[], name: string) => Value;
}

export type Options = Readonly<Record<string, Option>>;

/** What the options give, by their names. */
export type Values<All extends Options> = {
  readonly [Name in keyof All]: All[Name] extends Option<infer Value> ? Value : never;
};

type Parse<Value> = (name: string, text: string) => Value;
type Help = Pick<Option, 'value' | 'help' | 'sets' | 'choices'>;

/** A switch. */
export const flag = (help: string): Option<boolean> => ({
  type: 'boolean',
  help,
  read: (texts) => texts.length > 0,
});

/** A text, `undefined` when it was not given. */
export const text = (help: Help): Option<string | undefined> =>
  parsed(help, (_name, given) => given);

/** A text that may be given several times. */
export const list = (help: Help): Option<readonly string[]> => ({
  type: 'string',
  multiple: true,
  ...help,
  read: (texts) => texts,
});

/** A text that stands for something else, `undefined` when it was not given. */
export const parsed = <Value>(help: Help, parse: Parse<Value>): Option<Value | undefined> => ({
  type: 'string',
  ...help,
  read: ([given], name) => (given === undefined ? undefined : parse(name, given)),
});

/** The same with a default. */
export const withDefault = <Value>(
  option: Option<Value | undefined>,
  fallback: Value,
): Option<Value> => ({ ...option, read: (texts, name) => option.read(texts, name) ?? fallback });

/** The same, which must be given. */
export const required = <Value>(option: Option<Value | undefined>): Option<Value> => ({
  ...option,
  read(texts, name) {
    const value = option.read(texts, name);
    if (value !== undefined) return value;
    throw new UsageError(`${name} is missing: give ${name} <${option.value ?? 'value'}>`);
  },
});

/** What every command takes. */
export const commonOptions = {
  'env-file': text({
    value: 'file',
    help: 'Where MERCHANT_PAYMENTS_ variables are read that the environment lacks. Default: .env, if there is one.',
  }),
  json: flag('Prints JSON on stdout and nothing else there.'),
  help: flag('Prints this help.'),
};

/** What a command is called with. */
export interface Call<Own extends Options = Options> {
  readonly options: Values<Own & typeof commonOptions>;
  /** The words that are not options. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
}

/** What a command prints: JSON with `--json`, else the lines. */
export interface Outcome {
  readonly json: unknown;
  /** For people, on stdout. */
  readonly lines?: (layout: Layout) => readonly string[];
  /** For people, on stderr. */
  readonly note?: string | undefined;
  /** 0 unless given. */
  readonly code?: ExitCode;
}

/** A term and what it means, beside it. */
export interface Definition {
  readonly term: string;
  readonly text: string;
}

/** What a module in `commands/` exports. */
export interface Command<Own extends Options = Options> {
  /** The words after `merchant-payments`, for example `payments create`. */
  readonly name: string;
  /** A line for the list of commands. */
  readonly summary: string;
  /** The words after it, for example `['status']`; those in brackets may be left out. */
  readonly positionals?: readonly string[];
  /** The values of each of them, where they are few: for completion. */
  readonly wordChoices?: readonly (readonly string[])[];
  /** Whether it checks them itself: otherwise exactly these must be given. */
  readonly checksWords?: true;
  readonly options: Own;
  /** Further paragraphs and definitions for the help, after the options. */
  readonly details?: readonly (string | Definition)[];
  /** Command lines that work, for the help. */
  readonly examples: readonly string[];
  /** Prints by itself when it returns nothing. */
  run(call: Call<Own>): Promise<Outcome | undefined>;
}

/** A command whose `run` knows the types of its options. */
export const defineCommand = <const Own extends Options>(command: Command<Own>): Command =>
  command as unknown as Command;
