import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Consumer } from './consumers.js';

interface Result {
  readonly passed: boolean;
  /** The last line of what the consumer printed. */
  readonly summary: string;
  readonly output: string;
}

interface Workspace {
  /** Installs the tarball in a copy of the consumer's folder and runs its `npm test` there. */
  use(consumer: Consumer): Result;
  remove(): void;
}

const here = fileURLToPath(new URL('.', import.meta.url));

/** An empty folder outside the project, so that nothing resolves to the project's node_modules. */
export function createWorkspace(givenTarball: string | undefined): Workspace {
  const root = mkdtempSync(path.join(tmpdir(), 'merchant-payments-consumers-'));
  const tarball = givenTarball ? path.resolve(givenTarball) : pack(root);
  return {
    use: (consumer) => {
      const folder = path.join(root, consumer.name);
      for (const name of [...(consumer.borrows ?? []), consumer.name]) {
        cpSync(path.join(here, name), folder, { recursive: true, filter: isSource });
      }
      try {
        install(consumer.manager, folder, root, tarball);
        const output = test(consumer.manager, folder, root);
        return { passed: true, summary: lastLine(output), output };
      } catch (error) {
        const output = error instanceof Error ? error.message : String(error);
        return { passed: false, summary: output.split('\n', 1)[0] ?? '', output };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function test(manager: Consumer['manager'], folder: string, root: string): string {
  // Yarn starts Node itself: under PnP nothing resolves without its loader.
  return manager === 'yarn'
    ? run(folder, process.execPath, [yarn(root), 'run', 'test'])
    : run(folder, 'npm', ['run', '--silent', 'test']);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

function pack(root: string): string {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', root];
  const [packed] = JSON.parse(run(process.cwd(), 'npm', args));
  return path.join(root, packed.filename);
}

const INSTALL = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];

function install(
  manager: Consumer['manager'],
  folder: string,
  root: string,
  tarball: string,
): void {
  if (manager === 'npm') {
    run(folder, 'npm', [...INSTALL, tarball]);
    return;
  }
  installManagers(root);
  if (manager === 'pnpm') {
    const pnpm = path.join(root, 'managers/node_modules/.bin/pnpm');
    run(folder, pnpm, ['add', '--ignore-scripts', tarball]);
  } else {
    run(folder, process.execPath, [yarn(root), 'add', `merchant-payments@file:${tarball}`]);
  }
}

function installManagers(root: string): void {
  const folder = path.join(root, 'managers');
  cpSync(path.join(here, 'managers'), folder, { recursive: true, filter: isSource });
  mkdirSync(folder, { recursive: true });
  run(folder, 'npm', INSTALL);
}

function yarn(root: string): string {
  return path.join(root, 'managers/node_modules/@yarnpkg/cli-dist/bin/yarn.js');
}

function isSource(file: string): boolean {
  return path.basename(file) !== 'node_modules';
}

function run(cwd: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`);
  return stdout;
}
