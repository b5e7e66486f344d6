// Installs what only the larger suites need, beyond npm install: the packages of test/ and scripts/ with what is made of
// them, and two more Nodes. Again, it installs what has changed.

import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync } from 'node:fs';

const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' });

// Install scripts of others may download what npm's registry does not have, so none runs.
for (const folder of ['scripts', 'test', 'test/runtimes/nodes']) {
  run(
    'npm',
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  );
}

// The one package that is compiled: without optimizing, which takes half the time.
if (!existsSync('test/node_modules/better-sqlite3/build/Release/better_sqlite3.node')) {
  process.env.CFLAGS ??= '-O0';
  process.env.CXXFLAGS ??= '-O0';
  run('npm', 'rebuild', '--prefix', 'test', '--foreground-scripts', 'better-sqlite3');
}

// The examples use the packages of the tests: Node and TypeScript look for packages beside the file that imports them.
rmSync('examples/node_modules', { recursive: true, force: true });
symlinkSync('../test/node_modules', 'examples/node_modules', 'junction');

run(process.execPath, 'test/services/prisma/generate.mjs');
