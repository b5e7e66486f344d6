/** An option of a command: for parsing, and for its help. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** May be given several times; the value is then a list. */
  readonly multiple?: boolean;
  /** What stands for the value in the help, for example `url`. */
  readonly value?: string;
  /** What it does, its range and its default, in a line. */
  readonly help: string;
}

/** Where a command reads from and writes to. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What the user gave, as parseArgs hands it over. */
export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
}

/** The process's exit code: 0 done, 1 it failed (or a check did), 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2;

/** What a module in `commands/` exports as `command`. */
export interface Command {
  /** The words after `merchant-payments`, for example `payments create`. */
  readonly name: string;
  /** A line for the list of commands. */
  readonly summary: string;
  /** What follows the name and is no option, for example `<reference-number>`. */
  readonly positionals?: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Further lines for the help, after the options. */
  readonly details?: readonly string[];
  /** Command lines that work, for the help. */
  readonly examples: readonly string[];
  run(given: Arguments, terminal: Terminal): Promise<ExitCode>;
}

/** The command line is wrong: one line on stderr, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
