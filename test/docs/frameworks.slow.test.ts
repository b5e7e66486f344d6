import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signCallback } from 'merchant-payments/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bundle } from '../bundle.js';
import { findFreePort } from '../services/throwaway-server.js';
import { readBlocks } from './snippets/blocks.js';

// The lines of docs/frameworks.md as pasted beside its payments.ts. Bun, Deno and Workers are run by test/runtimes,
// Lambda by test/examples. The rows with a star were tried by hand.

const GUIDE = 'docs/frameworks.md';
const codeOf = (name: string) => readBlocks(GUIDE).find((block) => block.name === name)?.code ?? '';
const lineOf = (row: string) =>
  new RegExp(`^\\| ${row} \\|[^|]*\\| \`(.*)\` \\|$`, 'm').exec(readFileSync(GUIDE, 'utf8'))?.[1] ??
  '';
const payments = codeOf('payments.ts');
const ofFetch = payments.replace('merchant-payments/node', 'merchant-payments/fetch');

/** What a framework does of itself, by its files. */
const programs: Record<string, Record<string, string>> = {
  Express: { 'payments.ts': payments, 'start.ts': codeOf('express.ts') },
  Koa: { 'payments.ts': payments, 'start.ts': codeOf('koa.ts') },
  NestJS: { 'payments.ts': payments, 'start.ts': codeOf('main.ts') },
  Fastify: { 'payments.ts': payments, 'start.ts': codeOf('fastify.ts') },
  'Next.js pages': {
    'payments.ts': payments,
    'pages/api/callbacks/payments.ts': codeOf('pages/api/callbacks/payments.ts'),
    'start.ts': `import { createServer } from 'node:http';
      import handle from './pages/api/callbacks/payments.js';
      createServer(handle).listen(3000);`,
  },
  'Next.js app routes': {
    'payments.ts': ofFetch,
    'app/callbacks/payments/route.ts': lineOf('Next.js app routes'),
    'start.ts': `import { createServer } from 'node:http';
      import { getRequestListener } from '@hono/node-server';
      import { POST } from './app/callbacks/payments/route.js';
      createServer(getRequestListener(POST)).listen(3000);`,
  },
  Hono: {
    'payments.ts': ofFetch,
    'start.ts': `import { serve } from '@hono/node-server';
      import { Hono } from 'hono';
      import { handleCallback } from './payments.js';
      const app = new Hono();
      ${lineOf('Hono')}
      serve({ fetch: app.fetch, port: 3000 });`,
  },
};

// Called as the framework calls them: with an event that has the request.
for (const [name, exported] of [
  ['SvelteKit', 'POST'],
  ['React Router', 'action'],
] as const) {
  programs[name] = {
    'payments.ts': ofFetch,
    'route.ts': lineOf(name).replace(/'[^']+'/, "'./payments.js'"),
    'start.ts': `import { createServer } from 'node:http';
      import { getRequestListener } from '@hono/node-server';
      import { ${exported} } from './route.js';
      createServer(getRequestListener((request) => ${exported}({ request }))).listen(3000);`,
  };
}

const signingSecret = 'whsec_of_the_guide';
let folder = '';
const portOf = new Map<string, number>();

beforeAll(async () => {
  mkdirSync('test-artifacts', { recursive: true });
  folder = path.resolve(mkdtempSync('test-artifacts/frameworks-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const starts = Object.entries(programs).map(async ([name, files]) => {
    const port = await findFreePort();
    portOf.set(name, port);
    for (const [file, code] of Object.entries(files)) {
      const target = path.join(folder, name, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, code.replace('3000', String(port)));
    }
    return [name, path.join(folder, name, 'start.ts')];
  });
  await bundle(Object.fromEntries(await Promise.all(starts)), folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.keys(programs))('the lines for %s', (name) => {
  test('hand the raw body to the handler', async () => {
    const shop = spawn(process.execPath, [path.join(folder, `${name}.js`)], {
      env: {
        PATH: process.env['PATH'],
        MERCHANT_PAYMENTS_BASE_URL: 'http://127.0.0.1:9', // nothing is sent
        MERCHANT_PAYMENTS_API_KEY: 'key-of-the-guide',
        MERCHANT_PAYMENTS_API_SECRET: 'secret-of-the-guide',
        MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
      },
      stdio: 'ignore',
    });
    onTestFinished(() => void shop.kill());
    const url = `http://127.0.0.1:${portOf.get(name)}/callbacks/payments`;
    const send = async (secret: string) => {
      const { rawBody, headers } = signCallback({ payment: {}, signingSecret: secret });
      return (await fetch(url, { method: 'POST', body: rawBody, headers })).status;
    };
    // Authentic; its order is not stored.
    await vi.waitFor(async () => expect(await send(signingSecret)).toBe(503), 30_000);
    expect(await send('another secret')).toBe(401);
  }, 60_000);
});
