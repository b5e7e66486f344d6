import { createRequire } from 'node:module';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeLoadFailure } from '../../../src/client/transport/load.js';
import {
  createClient,
  created,
  failureOf,
  noRetries,
  order,
  startRawServer,
} from '../raw-server.js';

const FILES = ['undici/lib/core/connect.js', 'undici/lib/dispatcher/client.js'];

const MODULES = ['undici', ...FILES];

async function hide(...modules: string[]): Promise<void> {
  for (const module of modules) {
    vi.doMock(module, () => {
      throw new Error(`Cannot find ${module}`);
    });
  }
  await settle();
}

async function show(): Promise<void> {
  for (const module of MODULES) vi.doUnmock(module);
  vi.resetModules();
  await settle();
}

/** What is hidden or shown takes effect at the next import: of several at once only the first would wait for it. */
async function settle(): Promise<void> {
  for (const module of MODULES) await import(module).catch(() => undefined);
  vi.resetModules();
}

afterEach(show);

describe('undici', () => {
  it('has what is used of it in the files that the client loads', async () => {
    const undici = await import('undici');
    const named = {
      'core/connect': undici.buildConnector,
      'dispatcher/client': undici.Client,
    };
    for (const [file, value] of Object.entries(named)) {
      expect(createRequire(import.meta.url)(`undici/lib/${file}.js`)).toBe(value);
    }
  });

  it('with files that export something else is loaded as a whole, too', async () => {
    vi.doMock('undici/lib/core/connect.js', () => ({ default: { buildConnector: () => {} } }));
    await settle();
    const server = await startRawServer({ answer: () => created });
    expect((await createClient(server.url).payments.create(order)).response.status).toBe(201);
  });

  it('with other files is loaded as a whole, and sends all the same', async () => {
    await hide(...FILES);
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    expect((await client.payments.create(order)).response.status).toBe(201);
    await client.close();
  });

  it('that cannot be loaded fails the call, which was not sent, and is tried again', async () => {
    await hide(...MODULES);
    const client = createClient('https://payments.invalid');
    for (let call = 0; call < 2; call += 1) {
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
      expect(error.message).toContain("could not be sent: undici can't be loaded (");
    }
    await show();
    const server = await startRawServer({ answer: () => created });
    const other = createClient(server.url);
    expect((await other.payments.create(order)).response.status).toBe(201);
  });

  it('of version 6, which overrides of the package manager install, is named as such', async () => {
    vi.doMock(FILES[0] as string, () => import('undici-6/lib/core/connect.js' as string));
    vi.doMock(FILES[1] as string, () => import('undici-6/lib/dispatcher/client.js' as string));
    await settle();
    const server = await startRawServer({ answer: () => created });
    const error = await failureOf(createClient(server.url, noRetries).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(error.message).toContain('overrides in package.json); use undici 7 or 8');
    expect(server.requests).toHaveLength(0);
  });

  it('that esbuild bundled into an ES module says what to do', () => {
    const cause = new Error('Dynamic require of "node:assert" is not supported');
    expect(describeLoadFailure(cause)).toMatch(
      /^undici can't be loaded .*; esbuild needs a banner/,
    );
  });

  it('gives way to the global fetch on Bun', async () => {
    await hide(...MODULES);
    const { env, execArgv, versions } = process;
    vi.stubGlobal('process', { env, execArgv, versions: { ...versions, bun: '1.4.5' } });
    onTestFinished(() => void vi.unstubAllGlobals());
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
});

describe('the client opens', () => {
  it('256 connections at most; the call after them waits for one of these', async () => {
    const server = await startRawServer({
      answer: (_request, index) => (index < 256 ? undefined : created),
    });
    const client = createClient(server.url);
    const calls = Array.from({ length: 257 }, () => client.payments.create(order));
    await server.received(256);
    for (const { socket } of server.requests.slice(0, 256)) socket.write(created);
    await Promise.all(calls);
    expect(server.requests).toHaveLength(257);
    expect(server.connections).toHaveLength(256);
  });

  // In HTTP/2 requests share a connection, and its failure.
  it('TLS for HTTP/1.1 alone', async () => {
    const hellos: string[] = [];
    const server = await startRawServer({
      connected: (socket) =>
        socket.once('data', (hello) => {
          hellos.push(hello.toString('latin1'));
          socket.destroy();
        }),
    });
    const client = createClient(server.url.replace('http:', 'https:'), noRetries);
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    // The list of protocols (RFC 7301): its length in bytes, and each with its own.
    expect(hellos[0]).toContain('\x00\x09\x08http/1.1');
  });
});
