import { describe, expect, test } from 'vitest';
import { optionsOf, parseArguments } from '../../src/cli/arguments.js';
import { commandHelp, overview } from '../../src/cli/help.js';
import { commandLoaders } from '../../src/cli/registry.js';

/** The words of a command line as a shell divides it; single quotes only. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\S)+/g)].map(([word]) => word.replaceAll("'", ''));
}

describe.each([...commandLoaders.keys()])('%s', (name) => {
  const load = async () => (await commandLoaders.get(name)?.()) ?? expect.fail();

  test('has a summary and a help text for every option', async () => {
    const command = await load();
    expect(command.summary).toMatch(/^[A-Z].*\.$/);
    for (const [option, { help }] of Object.entries(optionsOf(command))) {
      expect(help, option).toMatch(/\S/);
    }
  });

  test('has examples that parse with its own options', async () => {
    const command = await load();
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      // In a pipeline it may come second.
      const call = `merchant-payments ${name}`;
      expect(example).toContain(call);
      const own = shellWords(example.slice(example.indexOf(call) + call.length));
      // A shell's redirection is not the command's.
      const end = own.findIndex((word) => ['|', '<', '>', '&&'].includes(word));
      const given = parseArguments(command, end < 0 ? own : own.slice(0, end));
      if (command.positionals === undefined) expect(given.words, example).toEqual([]);
    }
  });

  test('prints its usage, every option and every example', async () => {
    const command = await load();
    const help = commandHelp(name, command, 80);
    expect(help).toContain(`Usage: merchant-payments ${name} `);
    for (const option of Object.keys(optionsOf(command))) expect(help).toContain(`--${option}`);
    for (const example of command.examples) expect(help).toContain(example);
    const flowing = help.replace(/\s+/g, ' ');
    for (const detail of command.details ?? []) {
      const parts = typeof detail === 'string' ? [detail] : [detail.term, detail.text];
      for (const part of parts) expect(flowing).toContain(part);
    }
  });
});

test('the overview is grouped by what a command is for, each in one line of 80 columns', async () => {
  const shown = await overview(80);
  const titles = [...shown.matchAll(/^(\w+):$/gm)].map(([, title]) => title);
  expect(titles.slice(0, 4)).toEqual(['Run', 'Inspect', 'Break', 'Check']);
  const [commands = ''] = shown.split('\nOptions:');
  expect(commands.match(/^ {2}\w/gm)).toHaveLength(commandLoaders.size);
  expect(commands.match(/^ {3}/gm)).toBeNull();
  const groupOf = (name: string) =>
    titles.findLast((title) => shown.indexOf(`${title}:`) < shown.indexOf(`  ${name} `));
  expect(['demo', 'payments list', 'fault add', 'check'].map(groupOf)).toEqual(titles.slice(0, 4));
});

test.each([60, 80, 120])('no text but an example is wider than %i columns', async (width) => {
  const helps = [await overview(width)];
  for (const [name, load] of commandLoaders) {
    const [help = ''] = commandHelp(name, await load(), width).split('\nExamples:');
    helps.push(help);
  }
  const widths = helps.flatMap((help) => help.split('\n').map((line) => line.length));
  // A term is never broken.
  expect(widths.filter((one) => one > Math.max(width, 100))).toEqual([]);
  expect(Math.max(...widths)).toBeGreaterThan(width - 10);
});
