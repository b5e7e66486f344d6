// Compiles every TypeScript block of README.md, docs/, the skill and the doc comments in src/ against the
// built package: what a reader copies must compile. Blocks that name their file form a program with the others of their
// page; each other one is a module. Blocks that show a file of examples/, or parts of one, are compiled there.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const FOLDER = '.snippets';
const BLOCK = /(?:^[^\n]*`([\w/-]+(?:\.\w+)*\.ts)`[^`\n]*:\n\n?)?^```ts\n(.*?)^```$/gms;
const ELISION = /^\/\/ …$/m;

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
// Some show an ORM or a queue.
symlinkSync(path.resolve('test/node_modules'), path.join(FOLDER, 'node_modules'), 'junction');

const examples = new Set(list('examples').map((file) => readFileSync(file, 'utf8')));

let count = 0;
const pages = ['README.md', 'SECURITY.md', ...list('docs')];
for (const source of [...pages, ...list('src')]) {
  const text = readFileSync(source, 'utf8');
  const prose = source.endsWith('.md') ? text : text.replaceAll(/^\s*\* ?/gm, '');
  const page = source.replaceAll(/[/.]/g, '-');
  for (const [index, [, name, code]] of [...prose.matchAll(BLOCK)].entries()) {
    if (ELISION.test(code) || (name === undefined && examples.has(code))) continue;
    const file = path.join(
      FOLDER,
      name === undefined ? `${page}-${index + 1}.ts` : `${page}/${name}`,
    );
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name === undefined ? `${code}\nexport {};\n` : code);
    count += 1;
  }
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
  // It has comments, which JSON.parse refuses.
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { paths } = config.compilerOptions;
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
