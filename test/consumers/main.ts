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
try {
  for (const consumer of chosen) {
    const startedAt = performance.now();
    const result = workspace.use(consumer);
    const seconds = `${Math.round((performance.now() - startedAt) / 1000)} s`;
    const verdict = result.passed ? 'passed' : 'FAILED';
    console.log(`| ${consumer.name} | ${verdict} | ${seconds} | ${result.summary} |`);
    if (!result.passed) {
      console.error(result.output);
      process.exitCode = 1;
    }
  }
} finally {
  workspace.remove();
}
