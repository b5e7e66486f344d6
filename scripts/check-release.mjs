// Checks that this commit is the version of its tag: node scripts/check-release.mjs v1.2.3

import { existsSync, readFileSync } from 'node:fs';

const [, , tag] = process.argv;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const problems = [];

if (tag !== `v${version}`) problems.push(`the tag is ${tag}, but package.json has ${version}`);
for (const file of ['src/protocol/version.ts', 'src/openapi/openapi.json']) {
  const states = new RegExp(`version"?(?: =|:) ['"]${version.replaceAll('.', '\\.')}['"]`);
  if (!states.test(readFileSync(file, 'utf8'))) problems.push(`${file} does not say ${version}`);
}
const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')} - \\d{4}-\\d{2}-\\d{2}$`, 'm');
const [, entry] = readFileSync('CHANGELOG.md', 'utf8').split(heading);
if (entry === undefined) problems.push(`CHANGELOG.md has no heading "## ${version} - <date>"`);
const migration = `docs/migrate-to-${version.split('.', 2).join('.')}.md`;
const breaks = /^### Breaking$/m.test(entry?.split(/^## /m, 1)[0] ?? '');
if (breaks && !existsSync(migration))
  problems.push(`it breaks something, and there is no ${migration}`);
if (problems.length > 0) {
  console.error(`This cannot be released: ${problems.join('; ')}.`);
  process.exitCode = 1;
} else {
  console.log(`${tag} is ready to be released.`);
}
