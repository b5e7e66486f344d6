import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './child.js';
import type { InstalledPackage } from './installed-package.js';
import type { Runtime, RuntimeName } from './runtimes.js';

export interface SuiteResult {
  readonly runtime: RuntimeName;
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  readonly code: number | null;
}

const DEADLINE_MS = 45 * 60_000;

const VITEST = 'node_modules/vitest/vitest.mjs';
// With the version of vite that still runs on Node 20.18.
const VITEST_ON_OLD_VITE = 'test/runtimes/binaries/node_modules/vitest/vitest.mjs';

/** The project's whole test suite on one Node, its user-level tests against what was installed. */
export async function runSuites(
  runtime: Runtime,
  installed: InstalledPackage,
): Promise<readonly SuiteResult[]> {
  return [
    await runSuite(runtime, installed, 'the tests', ['--config', 'test/runtimes/vitest.config.ts']),
    await runSuite(runtime, installed, 'the packed package', ['--project', 'package']),
  ];
}

async function runSuite(
  { name, binary }: Runtime,
  { folder, root }: InstalledPackage,
  suite: string,
  chosen: readonly string[],
): Promise<SuiteResult> {
  const report = path.join(folder, `${name}-${suite.replaceAll(' ', '-')}.json`);
  const vitest = name === 'node-20' ? VITEST_ON_OLD_VITE : VITEST;
  const args = [vitest, 'run', ...chosen, '--root', process.cwd()];
  const outputs = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const env = {
    INSTALLED_PACKAGE: root,
    // Whatever the tests start by the name of node is this one too.
    PATH: `${path.dirname(binary)}${path.delimiter}${process.env['PATH']}`,
  };
  const startedAt = performance.now();
  const { stdout, stderr, code } = await run(binary, [...args, ...outputs], {
    cwd: process.cwd(),
    env,
    deadlineMs: DEADLINE_MS,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0) console.log(`\n${name}, ${suite}:\n${stdout}\n${stderr}`);
  const counts = JSON.parse(await readFile(report, 'utf8').catch(() => '{}'));
  return {
    runtime: name,
    suite,
    passed: counts.numPassedTests ?? 0,
    failed: (counts.numFailedTests ?? 0) + (code === 0 || counts.numFailedTests > 0 ? 0 : 1),
    skipped: (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0),
    seconds,
    code,
  };
}
