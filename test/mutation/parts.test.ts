import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// @ts-expect-error: plain JavaScript, as Stryker's configuration is.
import { PARTS } from './parts.mjs';

it('mutates every part each night', () => {
  const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8');
  const commands = nightly.match(/(?<=test\/mutation\/main\.mjs ).*/g) ?? [];
  const named = commands.flatMap((words) => words.split(' ').filter((word) => /^[a-z]/.test(word)));
  expect(named.sort()).toEqual(Object.keys(PARTS).sort());
});
