import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

// Run as processes. What their first lines say, `node --import tsx`, takes seconds for each.
const examples = [
  'express',
  'fastify',
  'hono',
  'nestjs',
  'observability/main',
  'queues/bullmq',
  'queues/pg-boss',
  'quickstart',
  'shop/with-staff',
];

/**
 * Makes of the sources what tests run as a process or read as a file: the command line and the
 * dashboard. Takes half a second; no test needs a build before it.
 */
export default async function makePrograms(): Promise<() => void> {
  mkdirSync('test-artifacts', { recursive: true });
  // Within the project, where the package finds itself by its name.
  const folder = path.resolve(mkdtempSync('test-artifacts/programs-'));
  await Promise.all([
    build({
      entryPoints: {
        'command-line': 'src/cli/main.ts',
        merchant: 'test/secrets/processes/merchant.mjs',
        ...Object.fromEntries(examples.map((name) => [`examples/${name}`, `examples/${name}.ts`])),
      },
      outdir: folder,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      tsconfig: 'tsconfig.json',
      packages: 'external',
      logLevel: 'error',
    }),
    promisify(execFile)(process.execPath, ['scripts/build-dashboard.mjs']),
  ]);
  cpSync('examples/shop/public', path.join(folder, 'examples/shop/public'), { recursive: true });
  process.env['TEST_PROGRAMS'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
