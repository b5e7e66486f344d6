import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, failureOf, holdDeadline, order, record } from '../raw-server.js';

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
    const { timeoutMs, expire } = holdDeadline();
    let signal: AbortSignal | undefined;
    const client = clientOf((_url: string, init: RequestInit) => {
      signal = init.signal ?? undefined;
      return new Promise(() => setImmediate(expire));
    });
    const error = await failureOf(client.payments.create(order, { timeoutMs }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
    expect(signal?.aborted).toBe(true);
  });

  it.each([
    ['POST', false],
    ['GET', undefined],
  ])(
    'of Bun, which may send a request again, keeps the connection of a %s: %s',
    async (method, keepalive) => {
      vi.stubGlobal('Bun', {});
      onTestFinished(() => void vi.unstubAllGlobals());
      let init: RequestInit | undefined;
      const client = clientOf(async (_url: string, given: RequestInit) => {
        init = given;
        return new Response('{}');
      });
      await client.request({ method, path: '/own' } as never);
      expect(init?.keepalive).toBe(keepalive);
    },
  );

  it('whose body ignores its signal does not keep the call from ending', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const body = () => new ReadableStream({ pull: () => new Promise(() => setImmediate(expire)) });
    const client = clientOf(async () => new Response(body(), { status: 201 }));
    const error = await failureOf(client.payments.create(order, { timeoutMs }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'accepted' });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object whose status is a text', { status: '201', headers: new Headers() }],
  ])('that answers with %s leaves the outcome unknown', async (_what, answer) => {
    const error = await failureOf(clientOf(async () => answer).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(error.message).toContain('(TypeError: fetch returned no Response)');
  });

  it('whose answer to a GET stalls until the caller leaves: the call may be made again', async () => {
    const leaving = new AbortController();
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(Buffer.from('{')),
      pull: () => leaving.abort(),
    });
    const client = clientOf(async () => new Response(body, { status: 200 }));
    const call = client.request({ method: 'GET', path: '/x' }, { signal: leaving.signal });
    expect(await failureOf(call)).toMatchObject({
      code: 'ABORTED',
      requestOutcome: 'accepted',
      safeToRetry: true,
    });
  });

  it.each<[string, object, string]>([['is a text', { body: '{}' }, 'broke off']])(
    'whose body %s leaves the payment accepted',
    async (_what, stub, says) => {
      const answer = Object.assign(Object.create(stub), { status: 201, headers: new Headers() });
      const error = await failureOf(clientOf(async () => answer).payments.create(order));
      expect(error).toMatchObject({
        code: 'RESPONSE_UNUSABLE',
        requestOutcome: 'accepted',
        safeToRetry: false,
      });
      expect(error.message).toContain(`was answered with 201, but with a body that ${says}`);
    },
  );

  it('whose body another reader holds leaves the payment accepted', async () => {
    const response = json();
    response.body?.getReader();
    const error = await failureOf(clientOf(async () => response).payments.create(order));
    expect(error).toMatchObject({ requestOutcome: 'accepted' });
    expect(error.message).toContain('a body that was read before');
  });

  it('that returns one Response twice leaves the second payment accepted', async () => {
    const response = json();
    const client = clientOf(async () => response);
    expect((await client.payments.create(order)).payment).toEqual(record);
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
    expect(error.message).toContain(
      'with a body that was read before; fetch must return a new Response for each request.',
    );
  });
});
