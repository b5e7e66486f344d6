import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import { expectToHandlePayments, signingSecret } from './payment-scene.js';

describe.each(['express', 'fastify', 'nestjs', 'hono'])('the example for %s', (name) => {
  it('handles payments beside routes with parsed bodies', { timeout: 60_000 }, async () => {
    await using example = await startExample(`${name}.ts`, {
      MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
    });
    await expectToHandlePayments(example);
    expect((await fetch(example.url)).status).toBe(405);
    const ordered = await fetch(new URL('/orders', example.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"tea":2}',
    });
    expect(await ordered.json()).toEqual({ ordered: { tea: 2 } });
  });
});

describe('the example for Next.js', () => {
  it('handles payments as the route handler that Next.js calls', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    // Loaded as in a build, where the secret is not there yet.
    const { POST } = await import('../../examples/nextjs/route.js');
    vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', signingSecret);
    const server = createServer(getRequestListener(POST));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await expectToHandlePayments({
      url: `http://127.0.0.1:${port}/callbacks/payments`,
      lines,
      printed: async (text) => expect(lines.join('\n')).toContain(text),
      [Symbol.asyncDispose]: async () => undefined,
    });
  });
});
