import { nearest } from '../protocol/nearest.js';
import { parseArguments, readSwitch } from './arguments.js';
import { type Command, type ExitCode, type Terminal, UsageError } from './command.js';
import { plainText } from './plain-text.js';
import { commandLoaders, commandsOfGroup } from './registry.js';

/** Runs the command that the words name, and says every failure in one line on stderr. */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const [first, second] = words;
  try {
    if (first === '--version') return await printVersion(terminal);
    if (first === undefined || first === '--help' || first === '-h') {
      const { overview } = await import('./help.js');
      (first === undefined ? terminal.stderr : terminal.stdout).write(await overview());
      return first === undefined ? 2 : 0;
    }
    if ((second === '--help' || second === '-h') && commandsOfGroup(first).length > 0) {
      const { groupHelp } = await import('./help.js');
      terminal.stdout.write(await groupHelp(first));
      return 0;
    }
    return await runCommand(words, terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

async function runCommand(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const name = findCommand(words);
  const { command } = await load(name);
  const rest = words.slice(name.split(' ').length);
  try {
    const given = parseArguments(command, rest);
    if (readSwitch(given, 'help')) {
      const { commandHelp } = await import('./help.js');
      terminal.stdout.write(commandHelp(command));
      return 0;
    }
    return await command.run(given, terminal);
  } catch (error) {
    if (isInvalidOption(error)) throw new UsageError(nameFlag(command, error));
    throw error;
  }
}

async function load(name: string): Promise<{ readonly command: Command }> {
  const loader = commandLoaders.get(name);
  if (loader === undefined) throw new UsageError(`unknown command ${name}; see --help`);
  return loader();
}

/** @throws {UsageError} naming the nearest command when one is close */
function findCommand(words: readonly string[]): string {
  const [first = '', second] = words;
  if (commandLoaders.has(first)) return first;
  const group = commandsOfGroup(first);
  if (second !== undefined && group.includes(`${first} ${second}`)) return `${first} ${second}`;
  if (group.length > 0 && (second === undefined || second.startsWith('-'))) {
    const endings = group.map((name) => name.slice(first.length + 1));
    throw new UsageError(
      `${first} needs one of ${endings.join(', ')} after it; see ${first} --help`,
    );
  }
  // An option before the command, or its value, may hold a secret: only a word is quoted.
  if (first.startsWith('-')) {
    throw new UsageError('the command comes first, its options after it; see --help');
  }
  const wanted = group.length > 0 ? `${first} ${second}` : first;
  const groups = [...commandLoaders.keys()].map((name) => name.split(' ')[0] as string);
  const close =
    nearest([first, second].join(' ').trim(), commandLoaders.keys()) ??
    nearest(wanted, new Set(groups));
  const remedy = close === undefined ? 'see --help' : `did you mean ${close}?`;
  throw new UsageError(`unknown command ${wanted}; ${remedy}`);
}

interface InvalidOption extends Error {
  readonly option: string;
}

// By its code: the class is in an entry of the package that most commands never load.
function isInvalidOption(error: unknown): error is InvalidOption {
  return error instanceof Error && 'code' in error && error.code === 'INVALID_OPTION';
}

// The package speaks of `signingSecret`, whose flag is --signing-secret.
function nameFlag(command: Command, { option, message }: InvalidOption): string {
  const flag = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return Object.hasOwn(command.options, flag) && message.startsWith(option)
    ? `--${flag}${message.slice(option.length)}`
    : message;
}

function report(error: unknown, { stderr }: Terminal): ExitCode {
  const message = error instanceof Error ? error.message : String(error);
  stderr.write(`merchant-payments: ${plainText(message)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

async function printVersion({ stdout }: Terminal): Promise<ExitCode> {
  const { readVersion } = await import('./version.js');
  stdout.write(`${readVersion()}\n`);
  return 0;
}
