// A serverless function, bundled by three bundlers: it works, and holds only what it uses.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import * as esbuild from 'esbuild';
import { signCallback } from 'merchant-payments/testing';
import { rollup } from 'rollup';
import webpack from 'webpack';

const out = (file) => path.resolve('out', file);

async function byEsbuild(entry, file) {
  await esbuild.build({
    entryPoints: [entry],
    outfile: out(file),
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
  });
}

async function byRollup(entry, file) {
  const bundle = await rollup({
    input: entry,
    external: /^node:/,
    plugins: [nodeResolve(), commonjs()],
  });
  await bundle.write({ file: out(file), format: 'es', inlineDynamicImports: true });
}

function byWebpack(entry, file) {
  const config = {
    mode: 'production',
    target: 'node',
    entry: path.resolve(entry),
    output: { path: path.dirname(out(file)), filename: file, library: { type: 'module' } },
    experiments: { outputModule: true },
  };
  return new Promise((resolve, reject) => {
    webpack(config, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString('errors-only')));
      else resolve();
    });
  });
}

// Text that only that part has. Each is looked for in the package too: one that is no longer there
// would be absent from every bundle.
const strangers = {
  mock: ['mock-server/index.cjs', 'dashboard.html'],
  'command line': ['cli', 'Usage: merchant-payments'],
  msw: ['msw/index.cjs', 'HttpResponse'],
  'Redis inbox': ['inbox/redis/index.cjs', 'redis.call'],
  'Postgres inbox': ['inbox/postgres/index.cjs', 'FOR UPDATE'],
  'SQLite inbox': ['inbox/sqlite/index.cjs', 'failures_by_time'],
  'Fastify plugin': ['fastify/index.cjs', 'addContentTypeParser'],
  client: ['index.js', 'EnvHttpProxyAgent'],
};

function readPart(source) {
  if (statSync(source).isFile()) return readFileSync(source, 'utf8');
  return readdirSync(source)
    .map((file) => readPart(path.join(source, file)))
    .join('\n');
}

const signingSecret = 'bundle-signing-secret';
const sizes = [];
for (const [name, bundle] of Object.entries({
  esbuild: byEsbuild,
  rollup: byRollup,
  webpack: byWebpack,
})) {
  const file = `${name}.mjs`;
  await bundle('handler.mjs', file);
  const text = readFileSync(out(file), 'utf8');
  for (const [part, [source, marker]] of Object.entries(strangers)) {
    const own = readPart(path.join('node_modules/merchant-payments/dist', source));
    assert.ok(own.includes(marker), `"${marker}" no longer marks the ${part}`);
    assert.ok(!text.includes(marker), `the ${part} is in the bundle of ${name}`);
  }
  const { handler, seen } = await import(pathToFileURL(out(file)).href);
  const { rawBody, headers } = signCallback({ payment: { status: 'paid' }, signingSecret });
  const event = {
    requestContext: { http: { method: 'POST' } },
    headers,
    body: Buffer.from(rawBody).toString('base64'),
    isBase64Encoded: true,
  };
  assert.equal((await handler(event)).statusCode, 200);
  const forged = { ...event, body: Buffer.from('{}').toString('base64') };
  assert.equal((await handler(forged)).statusCode, 401);
  assert.deepEqual(seen, ['paid']);
  sizes.push(`${name} ${text.length} bytes (${gzipSync(text).length} gzipped)`);
}
console.log(`handler: ${sizes.join(', ')}`);
