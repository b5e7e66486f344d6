// Checks the sizes (by size-limit) and the installed size against limits.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atMost } from '../bench/report.mjs';
import { measureSize } from '../bench/size.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-size-'));
try {
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(
    execFileSync('npm', pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const env = { ...process.env, PACKED_TARBALL: path.join(folder, packed.filename) };
  execFileSync('npx', ['--no-install', 'size-limit'], { env, stdio: 'inherit' });
} catch (error) {
  // size-limit has reported what exceeds its limit; the figures below are still useful.
  if (error.status === undefined) throw error;
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

// 5% above the last measurement, as with size-limit's limits; bench has the goal.
const { subject, figure, goal, met } = atMost('node_modules', measureSize().megabytes, 3.85, ' MB');
console.log(`${subject}: ${figure}, ${goal}${met ? '' : ': OVER'}`);
if (!met) process.exitCode = 1;
