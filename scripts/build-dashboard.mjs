// Builds the mock server's dashboard into one HTML file. Script and style are inline, so that a
// Content-Security-Policy with two hashes covers the page.
//
// node scripts/build-dashboard.mjs [outfile=dist/mock-server/dashboard.html]

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = path.join(root, 'src/mock-server/dashboard/app');

if (process.argv[1] === import.meta.filename) {
  await buildDashboard(process.argv[2] ?? path.join(root, 'dist/mock-server/dashboard.html'));
}

/** Writes the page to a file atomically, since other processes may read it at the same time. */
export async function buildDashboard(outfile) {
  const [script, style] = await Promise.all([
    bundle('main.tsx', {
      format: 'esm',
      target: 'es2022',
      // 2 KB smaller than with preact/jsx-runtime, which is only for type checks.
      tsconfigRaw: {
        compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' },
      },
      inject: [fileURLToPath(import.meta.resolve('preact'))],
    }),
    bundle('styles/main.css', {}).then(shortenProperties),
  ]);
  // Escapes text that would end the element early, or begin a comment.
  assertLacks(script, /<\/script|<!--/i, 'the script');
  assertLacks(style, /<\/style|<!--/i, 'the style');

  const page = fill(
    fill(readFileSync(path.join(app, 'page.html'), 'utf8'), 'style', `<style>${style}</style>`),
    'script',
    `<script type="module">${script}</script>`,
  );
  mkdirSync(path.dirname(outfile), { recursive: true });
  const unfinished = `${outfile}.${process.pid}`;
  writeFileSync(unfinished, page);
  renameSync(unfinished, outfile);
}

async function bundle(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [path.join(app, entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  return outputFiles[0].text.trim();
}

/** Custom properties are named by the style alone, and their names are a twentieth of it. */
function shortenProperties(style) {
  const names = [...new Set(style.match(/--[a-z-]+/g))];
  return style.replace(/--[a-z-]+/g, (name) => `--${names.indexOf(name).toString(36)}`);
}

function fill(template, name, content) {
  const place = `<!-- ${name} -->`;
  if (!template.includes(place)) throw new Error(`page.html must hold ${place}, but it does not`);
  // A function, because `replace` expands patterns such as $& in a replacement string.
  return template.replace(place, () => content);
}

function assertLacks(text, pattern, what) {
  const found = pattern.exec(text);
  if (found) throw new Error(`${what} must not hold ${found[0]}, but it does; write it in parts`);
}
