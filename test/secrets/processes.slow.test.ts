import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiKey, apiSecret, customer, signingText } from './planted.js';
import { leaksIn } from './watch.js';

const program = path.join(process.env['TEST_PROGRAMS'] ?? '', 'merchant.js');
const scenes = Array.from(
  readFileSync('test/secrets/processes/merchant.mjs', 'utf8').matchAll(/^ {2}'([^']+)': /gm),
  ([, name = '']) => name,
);

/** Runs a scene in a separate process and returns everything it printed, errors first. */
async function run(scene: string, env: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, ['--trace-warnings', '--trace-uncaught', program, scene], {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      API_KEY: apiKey,
      API_SECRET: apiSecret,
      SIGNING_SECRET: signingText,
      CUSTOMER: customer,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Each by itself: which of two pipes is read first is chance.
  const printed = [child.stderr, child.stdout].map((stream) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => void parts.push(part));
    return parts;
  });
  await once(child, 'close');
  return Buffer.concat(printed.flat()).toString();
}

/** What each is to print, so that a scene that does not happen is no success. */
const says: Readonly<Record<string, RegExp>> = {
  'onPayment throws': /could not be processed[\s\S]*the order is locked[\s\S]*answered 500/,
  'onPayment never ends': /WORK_TIMEOUT[\s\S]*answered 500/,
  'onError and onRejected throw': /answered 500[\s\S]*answered 401/,
  'a callback is refused': /SIGNATURE_MISMATCH[\s\S]*answered 401/,
  'a store rejects late': /the store is gone[\s\S]*answered 503/,
  'a store in memory in production': /MERCHANT_PAYMENTS_MEMORY_STORE/,
  'a refused callback is not caught': /CallbackVerificationError[\s\S]*SIGNATURE_MISMATCH/,
  'a wrong secret is not caught': /InvalidOptionError[\s\S]*signingSecret/,
  'a wrong client is not caught': /InvalidOptionError[\s\S]*apiSecret/,
  'a failed call is not caught': /ApiError[\s\S]*redacted[\s\S]*withheld/,
  'a failed call is rejected unheard': /ApiError[\s\S]*redacted[\s\S]*withheld/,
  // What becomes of the logs does not end the process: the call's own error does.
  'a logger throws, and one rejects': /ApiError(?![\s\S]*the log is full)/,
  'a client is logged by console': /request failed[\s\S]*ApiError[\s\S]*baseUrl/,
  'a listener of the mock throws': /no screen/,
  'a mock is printed and not closed': /the test failed[\s\S]*MockServer/,
};

describe('a process shows no secret and no body when', () => {
  test('each scene has something to print', () => {
    expect([...scenes].sort()).toEqual(Object.keys(says).sort());
  });

  test.each(scenes)('%s', async (scene) => {
    const printed = await run(scene);
    expect(printed).toMatch(says[scene] ?? /^$/);
    expect(leaksIn(printed)).toEqual([]);
  });

  test('undici tells what it does (NODE_DEBUG)', async () => {
    const printed = await run('a failed call is not caught', { NODE_DEBUG: 'undici,fetch' });
    expect(printed).toMatch(/sending request to POST[\s\S]*ApiError/);
    expect(leaksIn(printed)).toEqual([]);
  });
});
