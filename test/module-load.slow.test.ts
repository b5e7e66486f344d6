import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';

// What jest-environment-jsdom does not have, and Node has.
const MISSING = [
  'TextDecoder',
  'TextEncoder',
  'fetch',
  'Request',
  'Response',
  'ReadableStream',
  'Blob',
  'BroadcastChannel',
  'structuredClone',
  'setImmediate',
  'clearImmediate',
];

it.each(['', 'callback/', 'receiver/', 'node/', 'testing/'])(
  'src/%sindex.ts loads without the globals that a test environment of a browser lacks',
  async (folder) => {
    const directory = await mkdtemp(join(tmpdir(), 'merchant-payments-load-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const outfile = join(directory, 'entry.cjs');
    await build({
      entryPoints: [new URL(`../src/${folder}index.ts`, import.meta.url).pathname],
      outfile,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      bundle: true,
      external: ['undici'],
    });
    const script = join(directory, 'load.cjs');
    await writeFile(
      script,
      `for (const name of ${JSON.stringify(MISSING)}) delete globalThis[name];
      const { PaymentClient } = require('./entry.cjs');
      if (PaymentClient !== undefined) {
        new PaymentClient({ baseUrl: 'https://payments.example', apiKey: 'k', apiSecret: 's' });
      }
      console.log('loaded');`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    expect(stdout).toBe('loaded\n');
  },
);
