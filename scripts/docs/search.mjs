// What the site's search looks through: each section of the guides, and each symbol. search-client.js searches.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { plainText, summaryOf } from './page.mjs';

/** How much a result counts by where it is: those pages that say how something is done before those that list. */
const WEIGHTS = { 'Look up': 0.7, Project: 0.3 };
const WEIGHT_OF_SYMBOL = 0.17;

const HEADING = /<h[1-4] id="([^"]+)"[^>]*>(.*?)<a href="#.*?<\/h\d>/s;
const CODE = /<pre>.*?<\/pre>/gs;

const sections = [];

/** Takes the symbols, and leaves none for TypeDoc's own index, which would have one entry a page. */
export function collectSymbols(event, router) {
  for (const symbol of event.searchResults.filter((each) => each.isDeclaration())) {
    if (symbol.isReference()) continue;
    sections.push({
      page: symbol.parent.isProject() ? 'Import' : symbol.parent.getFullName(),
      heading: symbol.name,
      text: summaryOf(symbol),
      url: router.getFullUrl(symbol),
      weight: WEIGHT_OF_SYMBOL,
    });
  }
  event.searchResults = [];
}

/** Takes the sections of a guide from its page. */
export function collectSections({ model, url, contents }) {
  if (!model.isDocument()) return;
  const [, body] = contents.split('<div class="tsd-panel tsd-typography">');
  const [, ...parts] = body.split('<nav class="site-steps"', 1)[0].split(new RegExp(HEADING, 'gs'));
  for (let at = 0; at < parts.length; at += 3) {
    const [anchor, heading, html] = parts.slice(at, at + 3);
    sections.push({
      page: model.name,
      heading: plainText(heading),
      text: plainText(html.replaceAll(CODE, ' ')),
      code: plainText((html.match(CODE) ?? []).join(' ')),
      url: at === 0 ? url : `${url}#${anchor}`,
      weight: WEIGHTS[model.frontmatter.group] ?? 1,
    });
  }
}

/** Writes the search in place of TypeDoc's, and what it looks through, which is loaded when a reader searches. */
export function writeSearch({ outputDirectory }) {
  const assets = path.join(outputDirectory, 'assets');
  buildSync({
    entryPoints: ['scripts/docs/search-client.js'],
    outfile: path.join(assets, 'search.js'),
    allowOverwrite: true,
    bundle: true,
    minify: true,
    banner: { js: `/*!\n${readFileSync('scripts/node_modules/minisearch/LICENSE.txt', 'utf8')}*/` },
  });
  writeFileSync(
    path.join(assets, 'sections.js'),
    `window.siteSections = ${JSON.stringify(sections)};`,
  );
}
