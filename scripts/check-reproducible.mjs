// Builds the package once more, in another folder, and packs both: the tarballs must be the same
// bytes, so that anyone can build a release and compare.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const here = process.cwd();
const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-again-'));
try {
  const again = path.join(folder, 'elsewhere');
  mkdirSync(again);
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    },
  );
  for (const file of files.split('\0').filter(Boolean)) {
    cpSync(file, path.join(again, file), { recursive: true });
  }
  // Not a symbolic link, which would show in the paths from which the bundler makes names. Hard links take a
  // second, if the temporary folder is on the same disk.
  const copy = (how) => execFileSync('cp', [how, 'node_modules', again], { stdio: 'ignore' });
  try {
    copy('-al');
  } catch {
    copy('-a');
  }
  execFileSync('npm', ['run', 'build'], { cwd: again, stdio: 'ignore' });

  const [one, other] = [here, again].map((from, index) =>
    pack(from, path.join(folder, `${index}`)),
  );
  if (one !== other) {
    throw new Error(`Two builds of the same files differ: sha512 ${one} and ${other}`);
  }
  console.log(`Built and packed twice, the same bytes: sha512 ${one}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack(from, to) {
  mkdirSync(to);
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], {
      cwd: from,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  return createHash('sha512')
    .update(readFileSync(path.join(to, filename)))
    .digest('hex');
}
