import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { consumers } from './consumers.js';
import { createWorkspace } from './workspace.js';

// Installs the packed tarball as different users do, and uses it there, after a build: node --import tsx
// test/consumers/main.ts. Names choose consumers; `--tarball` takes a packed one.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tarball: { type: 'string' } },
});

const unknown = positionals.filter((name) => consumers.every((consumer) => consumer.name !== name));
if (unknown.length > 0) {
  const known = consumers.map(({ name }) => name).join(', ');
  throw new Error(`There is no consumer ${unknown.join(', ')}; there are ${known}`);
}

const chosen = consumers.filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
);
const workspace = createWorkspace(values.tarball);
const rows: string[][] = [];
try {
  for (const consumer of chosen) {
    const startedAt = performance.now();
    const result = workspace.use(consumer);
    const seconds = `${Math.round((performance.now() - startedAt) / 1000)} s`;
    rows.push([consumer.name, result.passed ? 'passed' : 'FAILED', seconds, result.summary]);
    console.log(rows.at(-1)?.join('  '));
    if (!result.passed) {
      console.error(result.output);
      process.exitCode = 1;
    }
  }
} finally {
  workspace.remove();
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const failed = rows.filter(([, verdict]) => verdict === 'FAILED').length;
const date = new Date().toISOString().slice(0, 10);
console.log(`\n${date}, merchant-payments ${version}, Node ${process.version}`);
console.log(
  '\n| consumer | result | time, install included | what ran |\n| --- | --- | --- | --- |',
);
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
console.log(`\n${rows.length - failed} passed, ${failed} failed`);
