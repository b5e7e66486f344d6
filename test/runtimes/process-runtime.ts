import { spawn } from 'node:child_process';
import path from 'node:path';
import type { GroupName } from './cases/case.js';
import { end, readLines, run } from './child.js';
import { checkDemo } from './demo-output.js';
import { checkEndpoint } from './endpoint-check.js';
import type { InstalledPackage } from './installed-package.js';
import { type CaseResult, collect, readReport } from './results.js';
import type { Runtime } from './runtimes.js';

const inProcess: readonly GroupName[] = ['callback', 'callback, async', 'client', 'mock-server'];

/** Node, Bun and Deno: the cases in one process, the demo and an endpoint in others. */
export async function runOnProcess(
  { binary, arguments: args }: Runtime,
  installed: InstalledPackage,
): Promise<readonly CaseResult[]> {
  const { folder: cwd } = installed;
  const cases = await collect('callback', 'the cases run to their end', async () => {
    const file = await installed.bundle('test/runtimes/starters/process.ts');
    const { stdout, stderr, code } = await run(binary, [...args, file], { cwd });
    if (code !== 0 || stderr !== '') {
      throw new Error(`ended with ${code}\n${stdout.slice(-1_000)}\n${stderr}`);
    }
    const lines = stdout.trim().split('\n');
    return readReport(
      lines.map((line) => JSON.parse(line)),
      inProcess,
    );
  });
  const demo = await collect('demo', 'runs to its end', async () => {
    const file = path.join(installed.root, 'dist/cli/main.js');
    return checkDemo(await run(binary, [...args, file, 'demo'], { cwd }));
  });
  const endpoint = await collect('endpoint', 'is served', async () => {
    const file = await installed.bundle('test/runtimes/starters/endpoint.ts');
    const child = spawn(binary, [...args, file], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const [line] = await readLines(child.stdout, 1);
      return await checkEndpoint((line as { port: number }).port);
    } finally {
      await end(child);
    }
  });
  return [...cases, ...demo, ...endpoint];
}
