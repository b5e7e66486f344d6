import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What `npm install merchant-payments` puts on the disk, undici included. */
export function measureSize() {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-payments-size-'));
  try {
    const [{ filename, size }] = JSON.parse(
      npm(root, 'pack', '--json', '--pack-destination', folder),
    );
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`);
    const modules = join(folder, 'node_modules');
    const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
    const installed = megabytes(modules);
    return {
      packedBytes: size,
      megabytes: installed,
      title: 'size: node_modules after installing the packed tarball, bytes of its files',
      rows: [
        plainRow('node_modules', installed, ' MB'),
        ...packages.map((name) => {
          const unpacked = megabytes(join(modules, name));
          return name === 'merchant-payments'
            ? atMost(`  ${name}`, unpacked, 1.75, ' MB')
            : plainRow(`  ${name}`, unpacked, ' MB');
        }),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function megabytes(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const bytes = files.reduce(
    (sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size,
    0,
  );
  return bytes / 1e6;
}

if (isStarted(import.meta.url)) report([measureSize()]);
