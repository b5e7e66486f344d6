import { nearest } from '../protocol/options.js';
import { plainText } from '../protocol/plain-text.js';
import { version } from '../protocol/version.js';
import { parseArguments, readOptions, requireWords } from './arguments.js';
import { type Call, type ExitCode, type Outcome, UsageError } from './command.js';
import { readEnvironment } from './environment.js';
import { layoutOf, textWidth, wrapText } from './layout.js';
import { commandLoaders, commandsOf } from './registry.js';
import { printJson, printLine, printNote, type Terminal } from './terminal.js';

/** Runs the command that `words` name. Prints a failure as one line on stderr. */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    const given = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
    return (await runBuiltIn(given, terminal)) ?? (await runCommand(given, terminal));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const { stderr } = terminal;
    const text = `merchant-payments: ${plainText(message)}`;
    const lines = stderr.isTTY ? wrapText(text, textWidth(stderr)) : [text];
    for (const line of lines) printNote(terminal, line);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Handles what no command does: the version, and the general help, also of a word such as `payments`. */
async function runBuiltIn(
  [first, second]: readonly string[],
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const { stdout, stderr } = terminal;
  const isHelp = (word: string | undefined) => word === '--help' || word === '-h';
  if (first === '--version' || first === '-v') {
    printLine(terminal, version);
    return 0;
  }
  if (first === undefined || isHelp(first) || (isHelp(second) && commandsOf(first).length > 0)) {
    const { overview } = await import('./help.js');
    (first === undefined ? stderr : stdout).write(await overview(textWidth(stdout)));
    return first === undefined ? 2 : 0;
  }
  return undefined;
}

async function runCommand(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const name = findCommand(words);
  const command = await commandLoaders.get(name)?.();
  if (command === undefined) throw new UsageError(`unknown command ${name}; see --help`);
  const given = parseArguments(command, words.slice(name.split(' ').length));
  if (given.texts.has('help')) {
    const { commandHelp } = await import('./help.js');
    terminal.stdout.write(commandHelp(name, command, textWidth(terminal.stdout)));
    return 0;
  }
  requireWords(given.words, command.positionals ?? []);
  try {
    const options = readOptions(command, given) as Call['options'];
    const env = readEnvironment(terminal, options.dotenv);
    // Not spread, which would open standard input.
    const own = Object.create(terminal, { env: { value: env } }) as Terminal;
    const outcome = await command.run({ options, words: given.words, terminal: own });
    if (outcome !== undefined) printOutcome(outcome, options.json, terminal);
    if (outcome?.failure !== undefined) throw new Error(outcome.failure);
    return outcome?.code ?? 0;
  } catch (error) {
    if (isInvalidOption(error)) throw new UsageError(error.message);
    throw error;
  }
}

function printOutcome({ json, lines, note }: Outcome, asJson: boolean, terminal: Terminal): void {
  if (asJson) {
    printJson(terminal, json);
    return;
  }
  for (const line of lines?.(layoutOf(terminal)) ?? []) printLine(terminal, line);
  if (note !== undefined) printNote(terminal, note);
}

/** @throws {UsageError} naming the nearest command when one is close */
function findCommand(words: readonly string[]): string {
  const [first = '', second] = words;
  if (commandLoaders.has(first)) return first;
  const group = commandsOf(first);
  const name = second === undefined ? first : `${first} ${second}`;
  if (group.includes(name)) return name;
  const endings = group.map((one) => one.slice(first.length + 1)).join(', ');
  if (endings !== '' && (second === undefined || second.startsWith('-'))) {
    throw new UsageError(`${first} needs a subcommand: ${endings}; see ${first} --help`);
  }
  // Not quoted: an option before the command may hold a secret.
  if (first.startsWith('-')) {
    throw new UsageError('give the command first and its options after it; see --help');
  }
  const [wanted, available] =
    endings === '' ? [first, 'see --help'] : [name, `available: ${endings}`];
  const firsts = [...commandLoaders.keys()].map((one) => one.split(' ')[0] as string);
  const close = nearest(name, commandLoaders.keys()) ?? nearest(wanted, new Set(firsts));
  const remedy = close === undefined ? available : `did you mean ${close}?`;
  throw new UsageError(`unknown command ${wanted}; ${remedy}`);
}

// Known by its code: to import the class would load an entry of the package that few commands need.
const isInvalidOption = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'INVALID_OPTION';
