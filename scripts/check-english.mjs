// Checks the English of the pages, and of the comments and messages in src/ and examples/, as english.mjs describes.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findInCode, findInMarkdown } from './english.mjs';

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'RELEASING.md',
  'llms.txt',
  'skills/merchant-payments/SKILL.md',
];

// Without following links, such as examples/node_modules.
const list = (folder, extension) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => extension.test(name))
    .map(({ parentPath, name }) => path.join(parentPath, name));

const findIn = (find) => (file) =>
  find(readFileSync(file, 'utf8'), file).map(({ line, fault }) => `${file}:${line}: ${fault}`);

const faults = [
  ...[...PAGES, ...list('docs', /\.md$/)].flatMap(findIn(findInMarkdown)),
  ...[...list('src', /\.tsx?$/), ...list('examples', /\.tsx?$/)].flatMap(findIn(findInCode)),
];
if (faults.length > 0) {
  console.error(`${faults.join('\n')}\n${faults.length} sentences need a second reading`);
  process.exitCode = 1;
}
