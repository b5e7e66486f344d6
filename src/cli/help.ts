import { optionsOf } from './arguments.js';
import type { Command, Definition, Option } from './command.js';
import { wrapText } from './layout.js';
import { commandLoaders, commandsOfGroup } from './registry.js';

const INDENT = '  ';

/** What `merchant-payments --help` prints. */
export async function overview(width: number): Promise<string> {
  return [
    'Usage: merchant-payments <command> [options]',
    '',
    ...wrapText(
      'Runs a mock of the Merchant Payment Service, and works with its payments and callbacks.',
      width,
    ),
    '',
    'Commands:',
    ...(await summaries([...commandLoaders.keys()], width)),
    '',
    'Options:',
    ...definitions(
      [
        {
          term: 'help <command>, -h, --help',
          text: 'Prints this help, or the help of a command.',
        },
        { term: '-v, --version', text: 'Prints the version.' },
      ],
      width,
    ),
    '',
    'Environment variables, also read from a .env file:',
    ...definitions(
      [
        {
          term: 'MERCHANT_PAYMENTS_MOCK_URL',
          text: 'The address of the running mock. Default: http://127.0.0.1:4242',
        },
        {
          term: 'MERCHANT_PAYMENTS_BASE_URL',
          text: 'The address of the service, for payments create and discover only: the other commands use the mock.',
        },
        {
          term: 'MERCHANT_PAYMENTS_API_KEY, MERCHANT_PAYMENTS_API_SECRET, MERCHANT_PAYMENTS_SIGNING_SECRET',
          text: 'The credentials. Safer here than in flags, which are visible in the process list.',
        },
      ],
      width,
    ),
    '',
    'Exit codes: 0 success, 1 failure, 2 invalid command line.',
    '',
  ].join('\n');
}

/** What `merchant-payments payments --help` prints. */
export async function groupHelp(group: string, width: number): Promise<string> {
  return [
    `Usage: merchant-payments ${group} <command> [options]`,
    '',
    'Commands:',
    ...(await summaries(commandsOfGroup(group), width)),
    '',
  ].join('\n');
}

/** What a command prints with `--help`. */
export function commandHelp(command: Command, width: number): string {
  const { name, summary, positionals = [], details, examples } = command;
  const words = positionals.map((word) => (word.startsWith('[') ? word : `<${word}>`));
  const usage = ['merchant-payments', name, ...words, '[options]'].join(' ');
  return [
    `Usage: ${usage}`,
    '',
    ...wrapText(summary, width),
    '',
    'Options:',
    ...definitions(
      Object.entries(optionsOf(command)).map(([option, spec]) => ({
        term: describeOption(option, spec),
        text: spec.help,
      })),
      width,
    ),
    ...(details === undefined ? [] : ['', ...detailLines(details, width)]),
    '',
    'Examples:',
    ...examples.map((example) => `${INDENT}${example}`),
    '',
  ].join('\n');
}

function detailLines(details: NonNullable<Command['details']>, width: number): string[] {
  const terms = details.filter((detail) => typeof detail !== 'string');
  return details.flatMap((detail) =>
    typeof detail === 'string' ? wrapText(detail, width) : define(detail, termWidth(terms), width),
  );
}

async function summaries(names: readonly string[], width: number): Promise<string[]> {
  const commands = await Promise.all(names.map((name) => commandLoaders.get(name)?.()));
  const known = commands.filter((command) => command !== undefined);
  return definitions(
    known.map(({ name, summary }) => ({ term: name, text: summary })),
    width,
  );
}

function describeOption(option: string, { type, value, multiple }: Option): string {
  const flag = option === 'help' ? '-h, --help' : `--${option}`;
  const placeholder = type === 'string' ? ` <${value ?? 'value'}>` : '';
  return `${flag}${placeholder}${multiple === true ? ' …' : ''}`;
}

/** A longer term gets its own line. */
const WIDEST_TERM = 30;

const termWidth = (list: readonly Definition[]): number =>
  Math.min(Math.max(...list.map(({ term }) => term.length)), WIDEST_TERM);

/** Terms on the left, explanations on the right; a long term gets its own line. */
function definitions(list: readonly Definition[], width: number): string[] {
  return list.flatMap((definition) => define(definition, termWidth(list), width));
}

function define({ term, text }: Definition, column: number, width: number): string[] {
  const margin = ' '.repeat(INDENT.length + column + INDENT.length);
  const [first = '', ...others] = wrapText(text, width - margin.length);
  const rest = others.map((line) => `${margin}${line}`);
  return term.length > column
    ? [`${INDENT}${term}`, `${margin}${first}`, ...rest]
    : [`${INDENT}${term.padEnd(column)}${INDENT}${first}`, ...rest];
}
