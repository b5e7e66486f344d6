import { optionsOf } from './arguments.js';
import type { Command, Option } from './command.js';
import { wrapText } from './layout.js';
import { commandLoaders, commandsOfGroup } from './registry.js';

const WIDTH = 96;
const INDENT = '  ';

/** What `merchant-payments --help` prints. */
export async function overview(): Promise<string> {
  return [
    'Usage: merchant-payments <command> [options]',
    '',
    'A mock of the Merchant Payment Service to work against, and tools for payments and callbacks.',
    '',
    'Commands:',
    ...(await summaries([...commandLoaders.keys()])),
    '',
    'Options:',
    ...definitions([
      { term: '-h, --help', text: 'Prints this help; after a command, that of the command.' },
      { term: '--version', text: 'Prints the version.' },
    ]),
    '',
    'Environment:',
    ...definitions([
      {
        term: 'MERCHANT_PAYMENTS_MOCK_URL',
        text: 'Address of the running mock. Default: http://127.0.0.1:4242',
      },
      {
        term: 'MERCHANT_PAYMENTS_BASE_URL',
        text: 'Address of the service, for payments create alone: every other command of payments, deliveries, fault and clock talks to the mock.',
      },
      {
        term: 'MERCHANT_PAYMENTS_API_KEY, MERCHANT_PAYMENTS_API_SECRET, MERCHANT_PAYMENTS_SIGNING_SECRET',
        text: 'Credentials. Better kept here than given as flags: a flag is visible in the list of processes.',
      },
    ]),
    '',
    'Exit codes: 0 done, 1 it failed, 2 the command line is wrong.',
    '',
  ].join('\n');
}

/** What `merchant-payments payments --help` prints. */
export async function groupHelp(group: string): Promise<string> {
  return [
    `Usage: merchant-payments ${group} <command> [options]`,
    '',
    'Commands:',
    ...(await summaries(commandsOfGroup(group))),
    '',
  ].join('\n');
}

/** What a command prints with `--help`. */
export function commandHelp(command: Command): string {
  const { name, summary, positionals = [], details, examples } = command;
  const words = positionals.map((word) => (word.startsWith('[') ? word : `<${word}>`));
  const usage = ['merchant-payments', name, ...words, '[options]'].join(' ');
  return [
    `Usage: ${usage}`,
    '',
    ...wrapText(summary, WIDTH),
    '',
    'Options:',
    ...definitions(
      Object.entries(optionsOf(command)).map(([option, spec]) => ({
        term: describeOption(option, spec),
        text: spec.help,
      })),
    ),
    ...(details === undefined ? [] : ['', ...details]),
    '',
    'Examples:',
    ...examples.map((example) => `${INDENT}${example}`),
    '',
  ].join('\n');
}

async function summaries(names: readonly string[]): Promise<string[]> {
  const commands = await Promise.all(names.map((name) => commandLoaders.get(name)?.()));
  const known = commands.filter((command) => command !== undefined);
  return definitions(known.map(({ name, summary }) => ({ term: name, text: summary })));
}

function describeOption(option: string, { type, value, multiple }: Option): string {
  const flag = option === 'help' ? '-h, --help' : `--${option}`;
  const placeholder = type === 'string' ? ` <${value ?? 'value'}>` : '';
  return `${flag}${placeholder}${multiple === true ? ' …' : ''}`;
}

interface Definition {
  readonly term: string;
  readonly text: string;
}

const TERM_WIDTH = 30;

/** Terms on the left, what they mean on the right; a long term has its own line. */
function definitions(list: readonly Definition[]): string[] {
  const longest = Math.max(...list.map(({ term }) => term.length));
  const width = Math.min(longest, TERM_WIDTH);
  const margin = ' '.repeat(INDENT.length + width + INDENT.length);
  return list.flatMap(({ term, text }) => {
    const [first = '', ...others] = wrapText(text, WIDTH - margin.length);
    const rest = others.map((line) => `${margin}${line}`);
    return term.length > width
      ? [`${INDENT}${term}`, `${margin}${first}`, ...rest]
      : [`${INDENT}${term.padEnd(width)}${INDENT}${first}`, ...rest];
  });
}
