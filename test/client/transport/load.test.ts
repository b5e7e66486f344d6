import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, created, failureOf, order, startRawServer } from '../raw-server.js';

afterEach(() => {
  vi.doUnmock('undici');
  vi.resetModules();
});

describe('undici', () => {
  it('is loaded at the first call, not on import nor at construction', async () => {
    const server = await startRawServer({ answer: () => created });
    const script = `
      import { createRequire } from 'node:module';
      const { PaymentClient } = await import('./src/index.ts');
      const { cache } = createRequire(import.meta.url);
      const loaded = () => Object.keys(cache).some((path) => path.includes('/node_modules/undici/'));
      const client = new PaymentClient({ baseUrl: process.argv[1], apiKey: 'k', apiSecret: 's' });
      const before = loaded();
      await client.payments.create(${JSON.stringify(order)});
      const after = loaded();
      await client.close();
      console.log(JSON.stringify({ before, after }));
    `;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script, server.url];
    // Ends by itself: nothing is left open after close().
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual({ before: false, after: true });
  }, 30_000);

  it('that cannot be loaded fails the call, which was not sent, and is tried again', async () => {
    vi.doMock('undici', () => {
      throw new Error('Cannot find package undici');
    });
    const client = createClient('https://payments.invalid');
    for (let call = 0; call < 2; call += 1) {
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
      expect(error.message).toContain("undici can't be loaded; install the package's dependencies");
    }
    vi.doUnmock('undici');
    const server = await startRawServer({ answer: () => created });
    const other = createClient(server.url);
    expect((await other.payments.create(order)).response.status).toBe(201);
  });

  it('without a dispatch, as Bun has it, gives way to the global fetch', async () => {
    vi.doMock('undici', () => ({ Agent: class {} }));
    const server = await startRawServer({ answer: () => created });
    const real = globalThis.fetch;
    let fetched = 0;
    globalThis.fetch = (...args) => {
      fetched += 1;
      return real(...args);
    };
    onTestFinished(() => {
      globalThis.fetch = real;
    });
    const client = createClient(server.url);
    expect((await client.payments.create(order)).response.status).toBe(201);
    expect(fetched).toBe(1);
  });

  it('is loaded once for calls that begin together', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    await Promise.all(Array.from({ length: 5 }, () => client.payments.create(order)));
    await client.close();
    expect(server.requests).toHaveLength(5);
  });
});
