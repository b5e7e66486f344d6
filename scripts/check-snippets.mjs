// Compiles every TypeScript block of README.md, docs/ and the doc comments in src/, each as one module,
// against the built package: what a reader copies must compile. Blocks that are a file of examples/ are
// compiled there.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = '.snippets';
const BLOCK = /^```ts\n(.*?)^```$/gms;

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);

const examples = new Set(list('examples').map((file) => readFileSync(file, 'utf8')));

let count = 0;
for (const source of ['README.md', 'SECURITY.md', ...list('docs'), ...list('src')]) {
  const text = readFileSync(source, 'utf8');
  const prose = source.endsWith('.md') ? text : text.replaceAll(/^\s*\* ?/gm, '');
  for (const [index, [, code]] of [...prose.matchAll(BLOCK)].entries()) {
    if (examples.has(code)) continue;
    const name = `${source.replaceAll(/[/.]/g, '-')}-${index + 1}.ts`;
    writeFileSync(path.join(FOLDER, name), `${code}\nexport {};\n`);
    count += 1;
  }
}

writeFileSync(
  path.join(FOLDER, 'tsconfig.json'),
  JSON.stringify({
    extends: '../tsconfig.json',
    include: ['*.ts'],
    exclude: [],
  }),
);
execFileSync('npx', ['--no-install', 'tsc', '-p', FOLDER], { stdio: 'inherit' });
rmSync(FOLDER, { recursive: true });
console.log(`${count} snippets compile`);

function list(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => /\.(?:md|ts)$/.test(file))
    .map((file) => path.join(folder, file));
}
