// Checks sizes against limits, each 5% above what was measured last (docs/evidence.md). The goals are in bench.

import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { atMost } from '../bench/report.mjs';
import { measureSize } from '../bench/size.mjs';

const { packedBytes, megabytes } = measureSize();
const sizes = [
  atMost('the published tarball', packedBytes / 1000, 540, ' KB'),
  atMost('node_modules', megabytes, 3.75, ' MB'),
  atMost('callback, minified and gzipped', await bundledSize('callback'), 11.6, ' KB'),
  atMost(
    'a Lambda handler with RetryLaterError, as esbuild bundles it',
    await handlerSize(),
    130,
    ' KB',
  ),
  atMost('the client without undici, likewise', await bundledSize('', ['undici']), 30.0, ' KB'),
  atMost('the client with undici, likewise', await bundledSize(''), 206.0, ' KB'),
];
for (const { subject, figure, goal, met } of sizes) {
  console.log(`${subject}: ${figure}, ${goal}${met ? '' : ': OVER'}`);
  if (!met) process.exitCode = 1;
}

/** In kilobytes. */
async function bundledSize(subpath, external = []) {
  const { outputFiles } = await build({
    entryPoints: [`dist/${subpath}/index.js`],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external,
    write: false,
  });
  return gzipSync(outputFiles[0].contents).length / 1000;
}

/** Not minified, in kilobytes. */
async function handlerSize() {
  const contents = "export { callbackHandler, RetryLaterError } from './dist/lambda/index.js';";
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
  });
  return outputFiles[0].contents.length / 1000;
}
