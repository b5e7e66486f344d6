import { optionsOf } from './arguments.js';
import type { Command, Definition, Option } from './command.js';
import { labelledLines, wrapText } from './layout.js';
import { type CommandGroup, commandGroups, commandLoaders } from './registry.js';

const INDENT = '  ';

const OPTIONS: readonly Definition[] = [
  { term: 'help <command>, -h, --help', text: 'Prints this help, or the help of a command.' },
  { term: '-v, --version', text: 'Prints the version.' },
];

const VARIABLES: readonly Definition[] = [
  {
    term: 'MERCHANT_PAYMENTS_MOCK_URL',
    text: 'The address of the running mock. Default: http://127.0.0.1:4242',
  },
  {
    term: 'MERCHANT_PAYMENTS_SIGNING_SECRET',
    text: 'The secret for callbacks. Safer here than in a flag, which is visible in the process list.',
  },
];

/** What `merchant-payments --help` prints. */
export async function overview(width: number): Promise<string> {
  const groups = await Promise.all(
    Object.entries(commandGroups).map(async ([title, group]) => {
      return ['', `${title}:`, ...(await summaries(group, width))];
    }),
  );
  return [
    'Usage: merchant-payments <command> [options]',
    ...groups.flat(),
    '',
    'Options:',
    ...definitions(OPTIONS, width),
    '',
    'Environment variables, also read from a .env file:',
    ...definitions(VARIABLES, width),
    '',
    'Exit codes: 0 success, 1 failure, 2 invalid command line.',
    '',
  ].join('\n');
}

/** What a command prints with `--help`. */
export function commandHelp(name: string, command: Command, width: number): string {
  const { summary, positionals = [], details = [], examples } = command;
  const words = positionals.map((word) => `<${word}>`);
  const options = Object.entries(optionsOf(command)).map(([option, spec]) => ({
    term: describeOption(option, spec),
    text: spec.help,
  }));
  const terms = details.filter((detail) => typeof detail !== 'string');
  return [
    `Usage: ${['merchant-payments', name, ...words, '[options]'].join(' ')}`,
    '',
    ...wrapText(summary, width),
    '',
    'Options:',
    ...definitions(options, width),
    ...(details.length === 0 ? [] : ['']),
    ...details.flatMap((detail) =>
      typeof detail === 'string'
        ? wrapText(detail, width)
        : define(detail, termWidth(terms), width),
    ),
    '',
    'Examples:',
    ...examples.map((example) => `${INDENT}${example}`),
    '',
  ].join('\n');
}

async function summaries(group: CommandGroup, width: number): Promise<string[]> {
  const list = await Promise.all(
    Object.entries(group).map(async ([term, load]) => ({ term, text: (await load()).summary })),
  );
  return list.flatMap((one) => define(one, LONGEST_NAME, width));
}

const LONGEST_NAME = Math.max(...[...commandLoaders.keys()].map(({ length }) => length));

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
  const label = `${INDENT}${term.padEnd(column)}${INDENT}`;
  if (term.length <= column) return labelledLines(label, text, width);
  const margin = ' '.repeat(INDENT.length + column + INDENT.length);
  return [`${INDENT}${term}`, ...labelledLines(margin, text, width)];
}
