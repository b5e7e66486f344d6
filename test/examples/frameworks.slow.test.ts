import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import {
  environmentFor,
  expectToHandlePayments,
  expectToTryAgain,
  inProcess,
  startService,
} from './payment-scene.js';

describe.each(['express', 'fastify', 'nestjs', 'hono'])('the example for %s', (name) => {
  it('handles payments beside routes with parsed bodies', { timeout: 60_000 }, async () => {
    await using service = await startService();
    await using example = await startExample(`${name}.ts`, environmentFor(service));
    const checkout = async (reference: string) => {
      const answer = await fetch(new URL('/orders', example.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reference, amount: 1 }), // the shop has its own price
      });
      return await answer.json();
    };
    await expectToHandlePayments(example, { service, checkout });
    expect(service.payments.list().map(({ amount }) => amount)).toEqual([2500, 2500]);
    await expectToTryAgain(example, { service, checkout });
    expect((await fetch(example.url)).status).toBe(405);
  });
});

describe('the example for Next.js', () => {
  it('handles payments as the route handler that Next.js calls', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    vi.spyOn(console, 'error').mockImplementation(() => undefined); // of what the scene makes fail
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    // Loaded as in a build, where the secret is not there yet.
    const { POST } = await import('../../examples/nextjs/route.js');
    const { checkout } = await import('../../examples/memory-shop.js');
    await using service = await startService();
    for (const [name, value] of Object.entries(environmentFor(service))) vi.stubEnv(name, value);
    const server = createServer(getRequestListener(POST));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const example = inProcess(`http://127.0.0.1:${port}/callbacks/payments`, lines);
    await expectToHandlePayments(example, { service, checkout });
  });
});
