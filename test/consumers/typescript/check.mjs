// Compiles the sources with each compiler, way to resolve and library, never skipping declarations.

import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';

const versions = ['5.4', '5.9', '6.0', '7.0'];
const resolutions = ['node16', 'nodenext', 'bundler'];
const libraries = { plain: ['es2022'], dom: ['es2022', 'dom'] };

copyFileSync('use.ts', 'use-required.cts');

const failures = [];
let compiled = 0;
for (const version of versions) {
  for (const resolution of resolutions) {
    for (const library of Object.keys(libraries)) {
      const name = `${version} ${resolution} ${library}`;
      for (const exactOptionalPropertyTypes of [true, false]) {
        compile(
          `${name}${exactOptionalPropertyTypes ? ' exact' : ''}`,
          version,
          {
            module: resolution === 'bundler' ? 'esnext' : resolution,
            moduleResolution: resolution,
            lib: libraries[library],
            types: ['node'],
            exactOptionalPropertyTypes,
          },
          ['use.ts', 'use-sqlite.ts', ...(resolution === 'bundler' ? [] : ['use-required.cts'])],
        );
      }
    }
  }
  const edge = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] };
  compile(`${version} edge, no types of Node`, version, edge, ['use-edge.ts']);
  const bare = { ...edge, lib: ['es2022'] };
  compile(`${version} no types of a platform`, version, bare, ['use-web-verifier.ts']);
}

function compile(name, version, compilerOptions, files) {
  const common = { strict: true, skipLibCheck: false, noEmit: true, target: 'es2022' };
  const config = { compilerOptions: { ...common, ...compilerOptions }, files };
  writeFileSync('tsconfig.json', JSON.stringify(config));
  const compiler = `node_modules/typescript-${version}/bin/tsc`;
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', '.'], {
    encoding: 'utf8',
  });
  compiled += 1;
  if (status !== 0) failures.push(`TypeScript ${name}:\n${stdout}`);
}

if (failures.length > 0) {
  console.error(failures.join('\n'));
  process.exitCode = 1;
}
console.log(`${compiled - failures.length} of ${compiled} combinations compile`);
