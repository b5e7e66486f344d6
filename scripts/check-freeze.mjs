// The freeze of the public interface: what differs from the last release's API report is announced in CHANGELOG.md.
//
// node scripts/check-freeze.mjs fails if something is not announced; with --release it keeps the report, as digests,
// of the release that CHANGELOG.md dates last

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const REPORT = 'test/types/merchant-payments.api.md';
const RELEASED = 'test/types/released-api.txt';

const changelog = readFileSync('CHANGELOG.md', 'utf8');
// Before the first release, everything may change.
const last = /^## (\S+) - \d{4}-\d{2}-\d{2}$/m.exec(changelog);
if (last !== null) {
  const problem = findProblem(last[1], changelog.slice(0, last.index));
  if (problem !== undefined) console.error(problem);
  process.exitCode = Number(problem !== undefined);
}

function findProblem(version, unreleased) {
  const current = readDigests();
  if (process.argv.includes('--release')) {
    // A row for each first letter: nobody reads digests.
    const rows = new Map();
    for (const [name, digest] of current)
      rows.set(name[0], [...(rows.get(name[0]) ?? []), name, digest]);
    const lines = [...rows.values()].map((row) => row.join(' '));
    writeFileSync(RELEASED, [version, ...lines, ''].join('\n'));
  }
  const [keptVersion, ...rows] = existsSync(RELEASED)
    ? readFileSync(RELEASED, 'utf8').split('\n')
    : [];
  if (keptVersion !== version) {
    return `${RELEASED} is not that of ${version}; run: node scripts/check-freeze.mjs --release`;
  }
  const entries = rows.join(' ').matchAll(/(\w+) (\w+)/g);
  const released = new Map([...entries].map(([, name, digest]) => [name, digest]));
  const changed = [...new Set([...released.keys(), ...current.keys()])].filter(
    (name) => released.get(name) !== current.get(name),
  );
  const announced = unreleased
    .split(/^(?=##)/m)
    .filter((section) => /^### (?:Breaking|Added)$/m.test(section))
    .flatMap((section) => section.match(/(?<=`)\w+/g) ?? []);
  const silent = changed.filter((name) => !announced.includes(name));
  if (silent.length === 0) return undefined;
  return `Changed since ${version}, but named by no "### Breaking" or "### Added" above it in CHANGELOG.md: ${silent.join(', ')}`;
}

/** A digest of what the report declares under each name, wherever its lines break. */
function readDigests() {
  const texts = new Map();
  const [, block] = readFileSync(REPORT, 'utf8').split(/^```(?:ts)?$/m);
  for (const text of block.split(/^(?=(?:declare|interface|type) )/m)) {
    const [, name] =
      /^(?:declare |abstract |class |function |const |interface |type )+(\w+)/.exec(text) ?? [];
    if (name !== undefined) texts.set(name, (texts.get(name) ?? '') + text.trim());
  }
  const digest = (text) =>
    createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex').slice(0, 12);
  return new Map([...texts].map(([name, text]) => [name, digest(text)]));
}
