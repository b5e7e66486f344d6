import path from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build } from 'esbuild';
import { rollup as rollUp } from 'rollup';
import { build as buildByVite } from 'vite';
import webpackTo from 'webpack';

// Each takes an entry and the file to write.

// As docs/go-live.md shows it: ES modules have no `require`, which undici calls.
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

// Rollup would import it at the top, which Node 20 has not; undici requires it when a user asks for it.
const ignore = ['node:sqlite'];

export async function rollup(entry, file) {
  const bundle = await rollUp({
    input: entry,
    external: /^node:/,
    plugins: [nodeResolve({ preferBuiltins: true }), commonjs({ ignore })],
  });
  await bundle.write({ file, format: 'es', inlineDynamicImports: true });
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

export async function vite(entry, file) {
  await buildByVite({
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: entry,
      outDir: path.dirname(file),
      rollupOptions: { output: { entryFileNames: path.basename(file) } },
    },
  });
}
