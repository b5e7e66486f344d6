import { optionsOf } from './arguments.js';
import type { Command } from './command.js';
import { commandLoaders } from './registry.js';

/** Returns the completions of the last word, which may be partial or empty. */
export async function completionsOf(words: readonly string[]): Promise<string[]> {
  const partial = words.at(-1) ?? '';
  const before = words.slice(words[0] === 'help' ? 1 : 0, -1);
  const candidates = await candidatesAfter(before);
  return candidates.filter((candidate) => candidate.startsWith(partial));
}

async function candidatesAfter(before: readonly string[]): Promise<readonly string[]> {
  const [first = '', second] = before;
  const name = [first, `${first} ${second}`].find((one) => commandLoaders.has(one)) ?? '';
  const command = await commandLoaders.get(name)?.();
  if (command !== undefined) return candidatesOf(command, before.slice(name.split(' ').length));
  const names = [...commandLoaders.keys()].map((one) => one.split(' '));
  if (first === '')
    return [...new Set(names.map(([one = '']) => one)), 'help', '--help', '--version'];
  if (second !== undefined) return [];
  return names.flatMap(([one, other]) => (one === first && other ? [other] : []));
}

function candidatesOf(command: Command, words: readonly string[]): readonly string[] {
  const options = optionsOf(command);
  const open = new Set(Object.keys(options));
  let position = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string;
    const option = options[word.slice(2)];
    if (!word.startsWith('--') || option === undefined) {
      position += 1;
      continue;
    }
    if (option.multiple !== true) open.delete(word.slice(2));
    if (option.type === 'boolean') continue;
    index += 1;
    // The word to complete is the value of this option.
    if (index === words.length) return option.choices ?? [];
  }
  return [...(command.wordChoices?.[position] ?? []), ...[...open].map((name) => `--${name}`)];
}
