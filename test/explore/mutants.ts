import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Mutant } from './mutant.js';
import { mutants } from './mutant-table.js';

// Takes each guard away in a copy of the code, and explores that: a scene must go wrong, unless the table says why none
// can. node --import tsx test/explore/mutants.ts [a part of its file's name or code]

const [wanted = ''] = process.argv.slice(2);
const copy = mkdtempSync(path.join(os.tmpdir(), 'explore-'));
const driver = 'test/sqlite/open-database.ts';
for (const name of ['src', 'test/explore', driver, 'package.json', 'tsconfig.json']) {
  cpSync(name, path.join(copy, name), { recursive: true });
}
for (const folder of ['node_modules', 'test/node_modules']) {
  symlinkSync(path.resolve(folder), path.join(copy, folder));
}

/** The line about the first scene that goes wrong; undefined for none. */
function explore(scene: string): string | undefined {
  const words = ['--import', 'tsx', 'test/explore/main.ts', scene, '--until-wrong'];
  const { status, stdout, stderr } = spawnSync('node', words, { cwd: copy, encoding: 'utf8' });
  if (status === 0) return undefined;
  return stdout.split('\n').find((line) => line.startsWith('WRONG')) ?? stderr.slice(0, 500);
}

const isRedundant = (scene: string) => scene.startsWith('none: ');

function tryOne({ file, from, to, scene }: Mutant): string | undefined {
  const source = readFileSync(file, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`not once in ${file}: ${from}`);
  const target = path.join(copy, file);
  writeFileSync(
    target,
    source.replace(from, () => to),
  );
  try {
    // All quick scenes are tried where none may notice it.
    return explore(isRedundant(scene) ? '' : scene);
  } finally {
    writeFileSync(target, source);
  }
}

const counts = { noticed: 0, redundant: 0, wrong: 0 };
const isWanted = ({ file, from }: Mutant) => `${file} ${from}`.includes(wanted);
const chosen = mutants.filter(isWanted);
// Those that no scene notices take longest.
const last = chosen.filter(({ scene }) => isRedundant(scene));
const first = chosen.filter(({ scene }) => !isRedundant(scene));
for (const mutant of [...first, ...last]) {
  const { from, to, scene } = mutant;
  const seen = tryOne(mutant);
  const isRight = (seen === undefined) === isRedundant(scene);
  counts[isRight ? (seen === undefined ? 'redundant' : 'noticed') : 'wrong'] += 1;
  const reason = seen ?? `not noticed: ${scene}`;
  console.log(`${isRight ? 'ok   ' : 'WRONG'} ${from.trim()} → ${to.trim()}\n      ${reason}`);
}
rmSync(copy, { recursive: true });
console.log(`${counts.noticed} noticed, ${counts.redundant} redundant, ${counts.wrong} wrong`);
process.exitCode = counts.wrong === 0 ? 0 : 1;
