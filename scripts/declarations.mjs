import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Writes the declarations of the sources, one file each. Types are checked by `npm run check`, not here. */
export function writeDeclarations(folder) {
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  const project = ['-p', 'scripts/declarations.tsconfig.json', '--outDir', folder];
  execFileSync(process.execPath, [tsc, ...project], { stdio: 'inherit' });
}
