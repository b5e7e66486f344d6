import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GroupName } from './cases/case.js';

export type RuntimeName =
  | 'node-20'
  | 'node-22'
  | 'node-24'
  | 'node-26'
  | 'bun'
  | 'deno'
  | 'workerd'
  | 'workerd-nodejs-compat';

export interface Runtime {
  readonly name: RuntimeName;
  readonly kind: 'node' | 'bun' | 'deno' | 'workerd';
  readonly binary: string;
  /** Before the file to run. */
  readonly arguments: readonly string[];
  /** Groups that are not run here, each with its reason. */
  readonly skipped: Partial<Record<GroupName, string>>;
}

// The binaries come in packages of their own for each platform: nothing is run or fetched to install
// them, and the lockfile pins their bytes.
const modules = fileURLToPath(new URL('binaries/node_modules', import.meta.url));
const platform = `${process.platform}-${process.arch}`;

const platformPackages: Record<string, { bun: string; deno: string; workerd: string }> = {
  'linux-x64': {
    bun: '@oven/bun-linux-x64/bin/bun',
    deno: '@deno/linux-x64-glibc/deno',
    workerd: '@cloudflare/workerd-linux-64/bin/workerd',
  },
  'linux-arm64': {
    bun: '@oven/bun-linux-aarch64/bin/bun',
    deno: '@deno/linux-arm64-glibc/deno',
    workerd: '@cloudflare/workerd-linux-arm64/bin/workerd',
  },
};

const NO_SERVER = 'a Worker cannot open a server that listens';
const NO_CLIENT = 'the client is for Node, Bun and Deno: it needs Buffer, process and undici';

/** Every runtime of the suite. */
export function findRuntimes(): readonly Runtime[] {
  const packages = platformPackages[platform];
  if (packages === undefined) {
    throw new Error(
      `The runtimes are installed for ${Object.keys(platformPackages).join(' and ')}, but this is ${platform}`,
    );
  }
  const node = (version: 20 | 22 | 24 | 26): Runtime => ({
    name: `node-${version}`,
    kind: 'node',
    binary: find(`node-${version}-${platform}/bin/node`),
    arguments: [],
    skipped: {},
  });
  const workerd = find(packages.workerd);
  const onWorkerd = {
    client: NO_CLIENT,
    'mock-server': NO_SERVER,
    demo: NO_SERVER,
  };
  return [
    ...([20, 22, 24, 26] as const).map(node),
    { name: 'bun', kind: 'bun', binary: find(packages.bun), arguments: [], skipped: {} },
    {
      name: 'deno',
      kind: 'deno',
      binary: find(packages.deno),
      // What the package needs to be allowed, and no more.
      arguments: ['run', '--no-remote', '--allow-net', '--allow-env', '--allow-read'],
      skipped: {},
    },
    {
      name: 'workerd',
      kind: 'workerd',
      binary: workerd,
      arguments: [],
      skipped: { ...onWorkerd, callback: 'it needs node:crypto: see workerd-nodejs-compat' },
    },
    {
      name: 'workerd-nodejs-compat',
      kind: 'workerd',
      binary: workerd,
      arguments: [],
      skipped: onWorkerd,
    },
  ];
}

function find(file: string): string {
  const binary = path.join(modules, file);
  if (existsSync(binary)) return binary;
  throw new Error(`${binary} is missing: npm --prefix test/runtimes/binaries ci --ignore-scripts`);
}
