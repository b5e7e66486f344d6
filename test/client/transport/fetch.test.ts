import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, created, failureOf, order, record, startRawServer } from '../raw-server.js';

type Fetch = typeof globalThis.fetch;
const clientOf = (fetch: unknown, options = {}) =>
  createClient('https://payments.invalid', { fetch: fetch as Fetch, ...options });
const json = () => new Response(JSON.stringify(record), { status: 201 });

describe('a fetch that was given to the client', () => {
  it('gets what the request is, no redirects, and is called as a function', async () => {
    const calls: unknown[] = [];
    const bodies: unknown[] = [];
    const client = clientOf(function (this: unknown, url: string, init: RequestInit) {
      calls.push([this, url, init.method, init.redirect, init.signal?.aborted]);
      bodies.push('body' in init ? init.body : 'none');
      return Promise.resolve(json());
    });
    await client.payments.create(order);
    await client.request({ method: 'GET', path: '/x' });
    expect(calls).toEqual([
      [undefined, 'https://payments.invalid/api/payments', 'POST', 'manual', false],
      [undefined, 'https://payments.invalid/x', 'GET', 'manual', false],
    ]);
    expect(bodies).toEqual([JSON.stringify(order), 'none']);
  });

  it('gets a body that it can not send twice on Deno, whose own fetch would', async () => {
    vi.stubGlobal('Deno', {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const seen: unknown[] = [];
    const client = clientOf(async (_url: string, init: RequestInit) => {
      const isStream = init.body instanceof ReadableStream;
      seen.push([init.method, isStream, init.duplex, await new Response(init.body).text()]);
      return json();
    });
    await client.payments.create(order);
    await client.request({ method: 'POST', path: '/x' });
    await client.request({ method: 'GET', path: '/x' });
    await client.request({ method: 'HEAD', path: '/x' });
    expect(seen).toEqual([
      ['POST', true, 'half', JSON.stringify(order)],
      ['POST', true, 'half', ''],
      ['GET', false, undefined, ''],
      ['HEAD', false, undefined, ''],
    ]);
  });

  it('that ignores its signal does not keep the call from ending', async () => {
    let signal: AbortSignal | undefined;
    const client = clientOf((_url: string, init: RequestInit) => {
      signal = init.signal ?? undefined;
      return new Promise(() => {});
    });
    const error = await failureOf(client.payments.create(order, { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
    expect(signal?.aborted).toBe(true);
  });

  it('whose body ignores its signal does not keep the call from ending', async () => {
    const stalled = () => new Response(new ReadableStream({}), { status: 201 });
    const client = clientOf(async () => stalled());
    const error = await failureOf(client.payments.create(order, { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'accepted' });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'created'],
    ['an object without headers', { status: 201 }],
    ['an object without a status', { headers: new Headers() }],
  ])('that answers with %s leaves the outcome unknown', async (_what, answer) => {
    const error = await failureOf(clientOf(async () => answer).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(error.message).toContain('(NOT_A_RESPONSE)');
    expect(error.cause).toMatchObject({
      message: expect.stringMatching(/^fetch returned .*, not a/),
    });
  });

  it('that throws instead of rejecting leaves the outcome unknown', async () => {
    const client = clientOf(() => {
      throw Object.assign(new Error('no'), { code: 'EPIPE', syscall: 'write' });
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
  });

  it('that answers without a body is a success', async () => {
    const client = clientOf(async () => new Response(null, { status: 204 }));
    expect((await client.payments.create(order)).response).toMatchObject({ status: 204, body: '' });
  });

  it('whose Headers know no getSetCookie, as in older implementations, is a success', async () => {
    const client = clientOf(async () => {
      const headers = new Headers({ 'set-cookie': 'a=1' });
      return { status: 201, headers: Object.assign(headers, { getSetCookie: undefined }) };
    });
    const { response } = await client.payments.create(order);
    expect(response).toMatchObject({ status: 201, headers: { 'set-cookie': 'a=1' } });
  });

  it('is the only way out: undici sends nothing', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, { fetch: async () => json() });
    await client.payments.create(order);
    expect(server.connections).toHaveLength(0);
  });
});
