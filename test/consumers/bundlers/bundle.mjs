// A serverless function and a client, bundled: each works, and the function holds only what it uses.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startMockServer } from 'merchant-payments/mock-server';
import { signCallback } from 'merchant-payments/testing';
import { esbuild, esbuildToCommonJs, webpack } from './bundlers.mjs';

const out = (file) => path.resolve('out', file);

// Text that only that part has. Each is looked for in the package too: one that is no longer there
// would be absent from every bundle.
const strangers = {
  mock: ['mock-server/index.cjs', 'dashboard.html'],
  'command line': ['cli', 'Usage: merchant-payments'],
  msw: ['msw/index.cjs', 'HttpResponse'],
  'Redis store': ['redis/index.cjs', 'redis.call'],
  'Postgres store': ['postgres/index.cjs', 'FOR UPDATE'],
  'MySQL store': ['mysql/index.cjs', 'max_statement_time'],
  'SQLite store': ['sqlite/index.cjs', 'PRAGMA synchronous'],
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
for (const [name, bundle] of Object.entries({ esbuild, webpack })) {
  const file = `${name}.mjs`;
  await bundle('handler.mjs', out(file));
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

// Away from node_modules, so that undici is in the bundle.
const away = mkdtempSync(path.join(tmpdir(), 'bundled-client-'));
const service = await startMockServer();

async function run(file) {
  // webpack writes chunks beside it.
  cpSync(path.dirname(file), away, { recursive: true });
  const copy = path.join(away, path.basename(file));
  const { url, apiKey, apiSecret } = service;
  const { stdout } = await promisify(execFile)(process.execPath, [copy, url, apiKey, apiSecret]);
  return stdout.trim();
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
try {
  for (const [name, bundle] of Object.entries({
    'esbuild.mjs': esbuild,
    'esbuild.cjs': esbuildToCommonJs,
    'webpack.mjs': webpack,
  })) {
    const file = out(`client-${name}/${name}`);
    await bundle('client.mjs', file);
    const printed = await run(file);
    assert.match(printed, UUID, `the client in ${name} printed: ${printed}`);
  }
  const file = out('client-without-banner/without-banner.mjs');
  await esbuild('client.mjs', file, {});
  assert.match(await run(file), /esbuild needs a banner/);
} finally {
  await service.close();
  rmSync(away, { recursive: true });
}
console.log(`handler: ${sizes.join(', ')}; client: run as bundled by each`);
