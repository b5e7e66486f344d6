import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPostgres } from '../services/find-servers.js';

/**
 * Packs what would be published and installs it in an empty folder, for all files of the suite. Says once
 * whether there is a Postgres for the shop of the skill: its address is in DATABASE_URL.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const postgres = await findPostgres();
  if (postgres !== undefined) process.env['DATABASE_URL'] = postgres.url;
  else if (process.env['CI'] === 'true') throw new Error('no Postgres found for the shops');
  else console.error('Skipped: no Postgres found for the shops: install it or set DATABASE_URL');
  const root = mkdtempSync(path.join(tmpdir(), 'merchant-payments-'));
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const [packed] = JSON.parse(
    npm(process.cwd(), 'pack', '--json', '--ignore-scripts', '--pack-destination', root),
  );
  const tarball = path.join(root, packed.filename);
  const installed = path.join(root, 'command-line');
  mkdirSync(installed);
  writeFileSync(path.join(installed, 'package.json'), '{ "private": true }');
  npm(installed, 'install', '--no-audit', '--no-fund', '--ignore-scripts', tarball);
  process.env['PACKED_TARBALL'] = tarball;
  // What npm links for npx: the tests of the command line run it instead of the build.
  process.env['COMMAND_LINE'] = path.join(installed, 'node_modules/.bin/merchant-payments');
  return async () => {
    rmSync(root, { recursive: true, force: true });
    await postgres?.stop?.();
  };
}
