import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { created, order, startForgetfulServer, startRawServer } from '../raw-server.js';

/** Its output. The process ends by itself: nothing is left open. */
async function runScript(script: string, ...args: string[]): Promise<unknown> {
  const run = ['--input-type=module', '--eval', script, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, run);
  return JSON.parse(stdout);
}

describe('undici', () => {
  it('is loaded at the first call, not on import nor at construction', async () => {
    const server = await startRawServer({ answer: () => created });
    const script = `
      import { createRequire } from 'node:module';
      const { PaymentClient } = await import(process.env.TEST_PROGRAMS + '/package.js');
      const { cache } = createRequire(import.meta.url);
      const loaded = () => Object.keys(cache).some((path) => path.includes('/node_modules/undici/'));
      const client = new PaymentClient({ baseUrl: process.argv[1], apiKey: 'k', apiSecret: 's' });
      const before = loaded();
      await client.payments.create(${JSON.stringify(order)});
      const after = loaded();
      await client.close();
      console.log(JSON.stringify({ before, after }));
    `;
    expect(await runScript(script, server.url)).toEqual({ before: false, after: true });
  }, 30_000);

  it('leaves the dispatcher of the global fetch to the application', async () => {
    const server = await startRawServer({ answer: () => created });
    const script = `
      const { PaymentClient } = await import(process.env.TEST_PROGRAMS + '/package.js');
      const client = new PaymentClient({ baseUrl: process.argv[1], apiKey: 'k', apiSecret: 's' });
      const names = () => Object.getOwnPropertySymbols(globalThis).map(String);
      const before = names();
      const { response } = await client.payments.create(${JSON.stringify(order)});
      const changed = names().filter((name) => name.includes('undici') && !before.includes(name));
      await client.close();
      console.log(JSON.stringify({ status: response.status, changed }));
    `;
    expect(await runScript(script, server.url)).toEqual({ status: 201, changed: [] });
  }, 30_000);
});

// Not sent to itself: the server has to close the connection meanwhile.
const SUSPENDED = `
  const { PaymentClient } = await import(process.env.TEST_PROGRAMS + '/package.js');
  const options = { apiKey: 'k', apiSecret: 's', maxRetries: 0 };
  const client = new PaymentClient({ baseUrl: process.argv[1], ...options });
  await client.payments.create(${JSON.stringify(order)});
  process.send('idle');
  process.once('message', async () => {
    const outcome = await client.payments.create(${JSON.stringify(order)}).catch((error) => error);
    process.send(outcome.response?.attempts ?? outcome);
    await client.close();
    process.disconnect();
  });
`;

it.skipIf(process.platform === 'win32')(
  'a process that was stopped sends its next payment on a new connection, without a retry',
  async () => {
    const server = await startForgetfulServer({ 'keep-alive': 'timeout=3' });
    const script = ['--input-type=module', '--eval', SUSPENDED, server.url];
    const child = spawn(process.execPath, script, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    child.kill('SIGSTOP');
    // What the child keeps the connection for, and a little more.
    await setTimeout(1_100);
    const outcome = once(child, 'message');
    child.send('create');
    child.kill('SIGCONT');
    expect((await outcome)[0]).toBe(1);
    expect(server.connections).toHaveLength(2);
  },
  30_000,
);
