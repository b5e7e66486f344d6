import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Whether a suite's file is what was started, and not imported by run.mjs. */
export const isStarted = (fileUrl) => process.argv[1] === fileURLToPath(fileUrl);

/** Prints suites as tables, or with --json as one object. A goal that is not met changes no exit code. */
export function report(suites) {
  const machine = {
    node: process.version,
    cpus: availableParallelism(),
    cpu: cpus()[0]?.model,
    versions: peerVersions(),
  };
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ ...machine, suites }, undefined, 2));
    return;
  }
  console.log(`Node ${machine.node}, ${machine.cpus} CPUs (${machine.cpu})`);
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  console.log(versions.join(', '));
  for (const suite of suites) printTable(suite);
}

function printTable({ title, rows }) {
  const verdict = (met) => (met === undefined ? '' : met ? 'met' : 'not met');
  const lines = rows.map(({ subject, figure, goal = '', met }) => [
    subject,
    figure,
    goal,
    verdict(met),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column].length)));
  console.log(`\n${title}`);
  for (const [subject, figure, goal, met] of lines) {
    const cells = [subject.padEnd(widths[0]), figure.padStart(widths[1]), goal.padEnd(widths[2])];
    console.log(`  ${cells.join('  ')}  ${met}`.trimEnd());
  }
}

/** A row whose value is to be at most `limit`. */
export function atMost(subject, value, limit, unit = '') {
  return {
    subject,
    value,
    figure: `${value.toFixed(2)}${unit}`,
    goal: `at most ${limit.toFixed(2)}${unit}`,
    met: value <= limit,
  };
}

/** A row whose value is to be at least `limit`. */
export function atLeast(subject, value, limit) {
  return {
    subject,
    value,
    figure: value.toFixed(2),
    goal: `at least ${limit.toFixed(2)}`,
    met: value >= limit,
  };
}

/** A peer's row: the goal is that ours is lower. */
export function behindOurs(subject, value, ours, unit = '') {
  return {
    subject,
    value,
    figure: `${value.toFixed(2)}${unit}`,
    goal: `above our ${ours.toFixed(2)}${unit}`,
    met: value > ours,
  };
}

/** A row that only informs. */
export function plainRow(subject, value, unit = '') {
  return { subject, value, figure: `${value.toFixed(2)}${unit}` };
}

function peerVersions() {
  const { dependencies } = readJson('./package.json');
  const entries = Object.keys(dependencies).map((name) => [name, versionOf(name)]);
  return Object.fromEntries(entries);
}

/** The suites of stores compare with no package, and run without them. */
function versionOf(name) {
  try {
    return readJson(`./node_modules/${name}/package.json`).version;
  } catch {
    return 'not installed';
  }
}

const readJson = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
