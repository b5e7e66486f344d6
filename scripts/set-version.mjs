// Writes a version and today's date into every file that states them: node scripts/set-version.mjs 1.2.3

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [, , version = ''] = process.argv;
if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
  throw new Error(`The version must be like 1.2.3; received ${version || 'nothing'}`);
}
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const unreleased = `## ${version} - unreleased\n`;
if (!changelog.includes(unreleased)) {
  throw new Error(
    `CHANGELOG.md has no heading "${unreleased.trim()}": write what changed below it`,
  );
}
const today = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', changelog.replace(unreleased, `## ${version} - ${today}\n`));

const npm = [
  'version',
  version,
  '--no-git-tag-version',
  '--allow-same-version',
  '--ignore-scripts',
];
execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] });
function write(file, pattern, text) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, text));
}
write('src/protocol/version.ts', /'\d[^']*'/, `'${version}'`);
write('src/openapi/openapi.json', /"version": "[^"]*"/, `"version": "${version}"`);
console.log(`Commit this, then tag it v${version}: CONTRIBUTING.md, "Releases".`);
