// Checks that each fact is in one place: makes each usual change in a scratch copy, checks its types, runs
// the tests that cover it, and counts the files that it touched outside tests and prose.
//
// node scripts/check-change-counts.mjs [--quick] [name…]
//
// --quick only makes and counts the changes, without types and tests.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { changes } from './change-counts/changes.mjs';

// Tests, prose, and files written by a command.
const UNCOUNTED = /^(?:test|docs|examples|api)\/|\.md$|^llms\.txt$/;

const { values, positionals: names } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const chosen = changes.filter(({ name }) => names.length === 0 || names.includes(name));
if (chosen.length < names.length) {
  throw new Error(`The changes are: ${changes.map(({ name }) => name).join(', ')}`);
}
const files = git(process.cwd(), 'ls-files', '--cached', '--others', '--exclude-standard');
for (const change of chosen) {
  const { counted, others } = makeChange(change);
  const isOver = counted.length > change.atMost;
  console.log(
    `${change.name}: ${counted.length} files, at most ${change.atMost}${isOver ? ': OVER' : ''}, and ${others.length} of tests and prose`,
  );
  for (const file of [...counted, ...others.map((other) => `(${other})`)]) console.log(`  ${file}`);
  if (isOver) process.exitCode = 1;
}

/** Makes a change in a copy of the working tree. Returns the files that it touched. */
function makeChange({ write, edit, run, own }) {
  // Within the project, to use its node_modules.
  const folder = path.resolve(mkdtempSync('.change-'));
  try {
    for (const file of files) cpSync(file, path.join(folder, file));
    git(folder, 'init', '--quiet');
    git(folder, 'add', '--all');
    for (const [file, text] of Object.entries(write ?? {})) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    }
    for (const [file, replacements] of Object.entries(edit)) {
      replaceIn(path.join(folder, file), replacements);
    }
    const commands = ['tsc -p scripts/docs/tsconfig.json', ...run];
    const isWriting = (command) => command.endsWith('--write');
    for (const command of values.quick ? run.filter(isWriting) : commands) runIn(folder, command);
    const touched = [
      ...git(folder, 'diff', '--name-only'),
      ...git(folder, 'ls-files', '--others', '--exclude-standard'),
    ].filter((file) => !(own && file.startsWith(own)));
    return {
      counted: touched.filter((file) => !UNCOUNTED.test(file)),
      others: touched.filter((file) => UNCOUNTED.test(file)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each replacement is [what is there, what takes its place]. */
function replaceIn(file, replacements) {
  let text = readFileSync(file, 'utf8');
  for (const [before, after] of replacements) {
    if (!text.includes(before)) {
      throw new Error(`${path.basename(file)} lacks ${before}: adapt scripts/change-counts/`);
    }
    text = text.replace(before, () => after);
  }
  writeFileSync(file, text);
}

function runIn(folder, command) {
  const [program, ...args] = command.split(' ');
  const file = program === 'node' ? process.execPath : path.resolve('node_modules/.bin', program);
  try {
    execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`${command} failed:\n${error.stdout}\n${error.stderr}`);
  }
}

function git(cwd, ...args) {
  const text = execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  return text.split('\n').filter(Boolean);
}
