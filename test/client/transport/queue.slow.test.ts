import { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, created, failureOf, order, startRawServer } from '../raw-server.js';
import { IN_FLIGHT, named, startStalledServer } from './stalled-server.js';

describe('calls beyond 256 in flight', () => {
  it('cost nothing when they are cancelled in the queue: 5,000 of them, then live ones', async () => {
    const server = await startStalledServer();
    const client = createClient(server.url);
    const outage = new AbortController();
    const { signal } = outage;
    const lost = Array.from({ length: 5_000 }, () =>
      failureOf(client.payments.create(order, { signal })),
    );
    await server.received(IN_FLIGHT);
    outage.abort();
    const outcomes = (await Promise.all(lost)).map(({ requestOutcome }) => requestOutcome);
    expect(outcomes.filter((outcome) => outcome === 'unknown')).toHaveLength(IN_FLIGHT);
    expect(outcomes.filter((outcome) => outcome === 'not-sent')).toHaveLength(5_000 - IN_FLIGHT);
    const live = ['a', 'b', 'c', 'd'];
    await Promise.all(live.map((name) => client.payments.create(named(name))));
    // The connections of the outage broke with their requests.
    expect(server.connections.length).toBeLessThanOrEqual(IN_FLIGHT + live.length);
    expect(server.requests).toHaveLength(IN_FLIGHT + live.length);
  });

  it('are dispatched in their own async context, which OpenTelemetry reads', async () => {
    const calls = 600;
    const server = await startRawServer({});
    const client = createClient(server.url);
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const expected: (string | undefined)[] = [];
    const keep = (event: unknown): void => {
      const { request } = event as { request: { origin: string; body: Buffer } };
      if (request.origin !== server.url) return;
      expected.push(JSON.parse(request.body.toString()).merchantPaymentReference);
      seen.push(context.getStore());
    };
    diagnostics.subscribe('undici:request:create', keep);
    onTestFinished(() => void diagnostics.unsubscribe('undici:request:create', keep));
    const all = Array.from({ length: calls }, (_, index) =>
      context.run(`order-${index}`, () => client.payments.create(named(`order-${index}`))),
    );
    for (let answered = 0; answered < calls; answered += 1) {
      await server.received(answered + 1);
      server.requests[answered]?.socket.write(created);
    }
    await Promise.all(all);
    expect(seen).toHaveLength(calls);
    expect(seen).toEqual(expected);
  });
});
