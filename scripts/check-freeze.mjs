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
    const lines = [version, ...[...current].map((entry) => entry.join(' '))];
    writeFileSync(RELEASED, `${lines.join('\n')}\n`);
  }
  const kept = existsSync(RELEASED) ? readFileSync(RELEASED, 'utf8').trim().split('\n') : [];
  if (kept[0] !== version) {
    return `${RELEASED} is not that of ${version}; run: node scripts/check-freeze.mjs --release`;
  }
  const released = new Map(kept.slice(1).map((line) => line.split(' ')));
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

/** A digest of what the report declares under each name. */
function readDigests() {
  const texts = new Map();
  const [, block] = readFileSync(REPORT, 'utf8').split(/^```(?:ts)?$/m);
  for (const text of block.split(/^(?=(?:declare|interface|type) )/m)) {
    const [, name] =
      /^(?:declare |abstract |class |function |const |interface |type )+(\w+)/.exec(text) ?? [];
    if (name !== undefined) texts.set(name, (texts.get(name) ?? '') + text.trim());
  }
  const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);
  return new Map([...texts].map(([name, text]) => [name, digest(text)]));
}
