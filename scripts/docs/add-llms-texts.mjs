// Adds files for machines to the site: llms.txt (https://llmstxt.org) with the files it links to, the same in
// one file as llms-full.txt, and the OpenAPI description.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const SITE = 'site';
const LINK = /\]\(([^)#]+)(?:#[^)]*)?\)/g;

const index = readFileSync('llms.txt', 'utf8');
const pages = [...new Set([...index.matchAll(LINK)].map(([, page]) => page))];

for (const file of ['llms.txt', ...pages]) cpSync(file, path.join(SITE, file));
cpSync('docs/images', path.join(SITE, 'docs/images'), { recursive: true });
cpSync('src/openapi/openapi.json', path.join(SITE, 'openapi.json'));
writeFileSync(
  path.join(SITE, 'llms-full.txt'),
  [index, ...pages.map((page) => readFileSync(page, 'utf8'))].join('\n'),
);
console.log(`llms.txt, llms-full.txt (${pages.length} pages) and openapi.json are in ${SITE}/`);
