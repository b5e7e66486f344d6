import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { type GroupName, groupNames, type ReportLine } from './cases/case.js';
import { end, readLines } from './child.js';
import { checkEndpoint } from './endpoint-check.js';
import type { InstalledPackage } from './installed-package.js';
import { type CaseResult, collect, readReport } from './results.js';
import type { Runtime } from './runtimes.js';

// Since 2026-08-04 a new project has the compatibility unless it says no. The older date is the first
// with the Buffer that ./callback needs.
const compatibility = {
  web: { date: '2026-11-17', flags: ['no_nodejs_compat', 'no_nodejs_compat_v2'] },
  node: { date: '2024-09-23', flags: ['nodejs_compat'] },
} as const;

/** A worker that runs the cases when it is asked to, and is an endpoint besides. */
export async function runOnWorkerd(
  { name, binary, skipped }: Runtime,
  installed: InstalledPackage,
): Promise<readonly CaseResult[]> {
  const groups = groupNames.filter((group) => skipped[group] === undefined);
  const [first] = groups as [GroupName];
  return collect(first, 'the worker starts and runs its cases', async () => {
    const starter = name === 'workerd' ? 'worker-web' : 'worker-nodejs-compat';
    const module = await installed.bundleForWorkers(`test/runtimes/starters/${starter}.ts`);
    const config = path.join(installed.folder, `${starter}.capnp`);
    writeFileSync(
      config,
      writeConfig(path.basename(module), compatibility[name === 'workerd' ? 'web' : 'node']),
    );
    // The fourth is where it tells its port.
    const child = spawn(binary, ['serve', config, '--control-fd=3'], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    try {
      const [line] = await readLines(child.stdio[3] as Readable, 1);
      const { port } = line as { port: number };
      const response = await fetch(`http://127.0.0.1:${port}/cases`);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      const lines = (await response.json()) as ReportLine[];
      const cases = readReport(
        lines,
        groups.filter((group) => group !== 'endpoint'),
      );
      const endpoint = groups.includes('endpoint')
        ? await collect('endpoint', 'is served', () => checkEndpoint(port))
        : [];
      return [...cases, ...endpoint];
    } finally {
      await end(child);
    }
  });
}

function writeConfig(
  module: string,
  { date, flags }: { date: string; flags: readonly string[] },
): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "merchant", worker = .merchant)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "merchant")],
);
const merchant :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "${module}")],
  compatibilityDate = "${date}",
  compatibilityFlags = ${JSON.stringify(flags)},
);
`;
}
