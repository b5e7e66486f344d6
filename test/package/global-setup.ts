import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Packs what would be published and installs it in an empty folder, for all files of the suite. */
export default function setup(): () => void {
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
  return () => rmSync(root, { recursive: true, force: true });
}
