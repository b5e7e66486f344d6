// Compiles every TypeScript block of README.md, docs/, the skill and the doc comments in src/ against the
// built package, each as one module: what a reader copies must compile. Blocks that show a file of examples/
// are compiled there.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = '.snippets';
const BLOCK = /^```ts\n(.*?)^```$/gms;

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
// Some show an ORM or a queue.
symlinkSync(path.resolve('test/node_modules'), path.join(FOLDER, 'node_modules'), 'junction');

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

// The skill's files import one another.
const skill = readFileSync('skills/merchant-payments/SKILL.md', 'utf8');
mkdirSync(path.join(FOLDER, 'skill'));
for (const [, name, code] of skill.matchAll(/^`([\w.]+)`:\n\n```ts\n(.*?)^```$/gms)) {
  writeFileSync(path.join(FOLDER, 'skill', name), code);
  count += 1;
}

writeFileSync(
  path.join(FOLDER, 'tsconfig.json'),
  JSON.stringify({
    extends: '../tsconfig.json',
    compilerOptions: { paths: builtPaths() },
    include: ['**/*.ts'],
    exclude: [],
  }),
);
execFileSync('npx', ['--no-install', 'tsc', '-p', FOLDER], { stdio: 'inherit' });
rmSync(FOLDER, { recursive: true });
console.log(`${count} snippets compile`);

/**
 * tsconfig.json's paths, pointing to the built declarations instead of the sources, whose types are already
 * checked.
 */
function builtPaths() {
  const { paths } = JSON.parse(readFileSync('tsconfig.json', 'utf8')).compilerOptions;
  return Object.fromEntries(
    Object.entries(paths).map(([name, [file]]) => [
      name,
      [path.join('..', file.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1.d.ts'))],
    ]),
  );
}

function list(folder) {
  // Without following the link that is examples/node_modules.
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => /\.(?:md|ts)$/.test(name))
    .map(({ parentPath, name }) => path.join(parentPath, name));
}
