// The runtimes that merchants use, each with the packed package:
//
//   node --import tsx test/runtimes/main.ts                  all of them
//   node --import tsx test/runtimes/main.ts bun deno         these alone

import { groupNames } from './cases/case.js';
import { run } from './child.js';
import { installPackage } from './installed-package.js';
import { runOnProcess } from './process-runtime.js';
import type { CaseResult } from './results.js';
import { findRuntimes, type Runtime } from './runtimes.js';
import { printTable, type RuntimeResult } from './table.js';
import { runOnWorkerd } from './workerd.js';

async function main(args: readonly string[]): Promise<void> {
  const runtimes = findRuntimes(args);
  const installed = installPackage();
  const results: RuntimeResult[] = [];
  try {
    for (const runtime of runtimes) {
      const startedAt = performance.now();
      const cases =
        runtime.kind === 'workerd'
          ? await runOnWorkerd(runtime, installed)
          : await runOnProcess(runtime, installed);
      const seconds = (performance.now() - startedAt) / 1000;
      results.push({ runtime, version: await versionOf(runtime), cases, seconds });
      tellFailures(runtime, cases);
    }
  } finally {
    installed.remove();
  }
  await printTable(results);
  const failed = results.some(({ cases }) => cases.some(({ failure }) => failure !== undefined));
  process.exitCode = failed ? 1 : 0;
}

async function versionOf({ binary }: Runtime): Promise<string> {
  const { stdout } = await run(binary, ['--version'], { cwd: process.cwd() });
  return stdout.match(/\d[\w.-]*/)?.[0] ?? stdout.trim();
}

function tellFailures({ name }: Runtime, cases: readonly CaseResult[]): void {
  for (const group of groupNames) {
    for (const { name: title, failure } of cases.filter((one) => one.group === group)) {
      if (failure !== undefined) console.log(`\n${name}, ${group}: ${title}\n  ${failure}`);
    }
  }
}

await main(process.argv.slice(2));
