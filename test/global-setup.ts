import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundle } from './bundle.js';

// Run as processes.
const examples = [
  'express',
  'fastify',
  'hono',
  'move/moved-shop',
  'move/old-shop',
  'move/way-back',
  'nestjs',
  'observability/main',
  'queues/bullmq',
  'queues/pg-boss',
  'shop/with-staff',
];

/**
 * Makes of the sources what tests run in a process of its own or read as a file: the package, the command line and
 * the dashboard. Takes half a second; no test needs a build before it.
 */
export default async function makePrograms(): Promise<() => void> {
  mkdirSync('test-artifacts', { recursive: true });
  // Within the project, where the package finds itself by its name.
  const folder = path.resolve(mkdtempSync('test-artifacts/programs-'));
  await Promise.all([
    bundle(
      {
        package: 'src/index.ts',
        'command-line': 'src/cli/main.ts',
        'close-scene': 'test/mock-server/close-scene.ts',
        ...Object.fromEntries(examples.map((name) => [`examples/${name}`, `examples/${name}.ts`])),
      },
      folder,
    ),
    promisify(execFile)(process.execPath, ['scripts/build-dashboard.mjs']),
  ]);
  cpSync('examples/shop/public', path.join(folder, 'examples/shop/public'), { recursive: true });
  // As scripts/install-packages.mjs does for the sources of the examples. What they share is not in their folder.
  symlinkSync(path.resolve('test/node_modules'), path.join(folder, 'node_modules'), 'junction');
  process.env['TEST_PROGRAMS'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
