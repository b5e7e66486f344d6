import { existsSync } from 'node:fs';
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
// them, and the lockfile pins their bytes. The oldest Node is apart, since every commit is tested on it.
const binaryIn = (folder: string, file: string) =>
  fileURLToPath(new URL(`${folder}/node_modules/${file}`, import.meta.url));
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

/** The runtimes of these names, or every one. */
export function findRuntimes(names: readonly string[]): readonly Runtime[] {
  const all = listRuntimes();
  const unknown = names.filter((name) => !all.some((runtime) => runtime.name === name));
  if (unknown.length > 0) {
    throw new Error(`${unknown} is none of ${all.map(({ name }) => name).join(', ')}`);
  }
  const chosen = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  for (const { name, binary } of chosen) {
    if (existsSync(binary)) continue;
    const command =
      name === 'node-20' || name === 'node-22'
        ? 'npm run packages'
        : 'npm --prefix test/runtimes/binaries ci --ignore-scripts';
    throw new Error(`${binary} is missing: ${command}`);
  }
  return chosen;
}

function listRuntimes(): readonly Runtime[] {
  const packages = platformPackages[platform];
  if (packages === undefined) {
    throw new Error(
      `The runtimes are installed for ${Object.keys(platformPackages).join(' and ')}, but this is ${platform}`,
    );
  }
  const node = (version: 20 | 22 | 24 | 26): Runtime => ({
    name: `node-${version}`,
    kind: 'node',
    binary: binaryIn(
      version === 20 || version === 22 ? 'nodes' : 'binaries',
      `node-${version}-${platform}/bin/node`,
    ),
    arguments: [],
    skipped: {},
  });
  const workerd = binaryIn('binaries', packages.workerd);
  const onWorkerd = {
    client: NO_CLIENT,
    'mock-server': NO_SERVER,
    demo: NO_SERVER,
  };
  return [
    ...([20, 22, 24, 26] as const).map(node),
    {
      name: 'bun',
      kind: 'bun',
      binary: binaryIn('binaries', packages.bun),
      arguments: [],
      skipped: {},
    },
    {
      name: 'deno',
      kind: 'deno',
      binary: binaryIn('binaries', packages.deno),
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
