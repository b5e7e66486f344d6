// Draws diagrams/*.dot as docs/images/*.svg, by Graphviz, without a browser.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { instance } from '@viz-js/viz';

const SOURCES = fileURLToPath(new URL('./diagrams', import.meta.url));
const IMAGES = 'docs/images';

const viz = await instance();

/** The names of all diagrams. */
export const diagrams = readdirSync(SOURCES).map((file) => path.basename(file, '.dot'));

const FONT = { fontname: 'Helvetica', fontsize: 9 };

// As an image, the SVG follows the colour scheme of the page that shows it.
const STYLE = `<style>
text { font-family: Helvetica, Arial, 'Liberation Sans', sans-serif; fill: #1f2328; }
.node path { fill: #f6f8fa; stroke: #6e7781; }
.outside path { fill: none; stroke-dasharray: 4 3; }
.careful path { fill: #fff1d6; stroke: #9a6700; }
.good path { fill: #dafbe1; stroke: #1a7f37; }
.edge path { stroke: #57606a; }
.edge polygon { fill: #57606a; stroke: #57606a; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.node path { fill: #21262d; stroke: #8b949e; }
.outside path { fill: none; }
.careful path { fill: #3d2e00; stroke: #d29922; }
.good path { fill: #12351f; stroke: #3fb950; }
.edge path { stroke: #9198a1; }
.edge polygon { fill: #9198a1; stroke: #9198a1; }
}
</style>`;

/**
 * Returns the SVG of a diagram, the same on every machine. The first line of its source is its description.
 */
export function draw(name) {
  const source = readFileSync(path.join(SOURCES, `${name}.dot`), 'utf8');
  const [, label] = /^\/\/ (.+)$/m.exec(source);
  const svg = viz.renderString(source, {
    format: 'svg',
    graphAttributes: { bgcolor: 'transparent', nodesep: 0.2, ranksep: 0.3, pad: 0.05 },
    nodeAttributes: {
      ...FONT,
      shape: 'box',
      style: 'rounded',
      margin: '0.1,0.06',
      height: 0.3,
      width: 0,
    },
    edgeAttributes: { ...FONT, arrowsize: 0.6 },
  });
  // Removes the titles of nodes, which a browser would show as tooltips and which say less than the labels.
  const drawing = svg.slice(svg.indexOf('<svg')).replaceAll(/<title>.*?<\/title>\n/g, '');
  return drawing
    .replace('<svg', `<svg role="img" aria-label="${label}"`)
    .replace('>', `>\n${STYLE}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of diagrams) writeFileSync(path.join(IMAGES, `${name}.svg`), draw(name));
}
