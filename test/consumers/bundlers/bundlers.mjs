import path from 'node:path';
import { build } from 'esbuild';
import webpackTo from 'webpack';

// Each takes an entry and the file to write.

// As docs/connections.md shows it: ES modules have no `require`, which undici calls.
const banner = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};

const forNode = { bundle: true, platform: 'node', minify: true };

export async function esbuild(entry, outfile, options = { banner }) {
  await build({ entryPoints: [entry], outfile, ...forNode, format: 'esm', ...options });
}

export async function esbuildToCommonJs(entry, outfile) {
  await build({ entryPoints: [entry], outfile, ...forNode, format: 'cjs' });
}

export function webpack(entry, file) {
  const config = {
    mode: 'production',
    target: 'node',
    entry: path.resolve(entry),
    output: {
      path: path.dirname(file),
      filename: path.basename(file),
      library: { type: 'module' },
    },
    experiments: { outputModule: true },
  };
  return new Promise((resolve, reject) => {
    webpackTo(config, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString('errors-only')));
      else resolve();
    });
  });
}
