import { createServer, type RequestListener } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { BODY_TIMEOUT_MS } from '../../src/receiver/body.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { openRawClient, writeHead } from '../receiver/adapter-contract/raw-client.js';
import {
  deliver,
  openScene,
  type Scene,
  SECRET,
  sign,
} from '../receiver/adapter-contract/scene.js';
import { waitFor } from '../wait-for.js';

// A delay that nothing else asks for.
const WORK_TIMEOUT_MS = 8_765;

type Options = Partial<CallbackReceiverOptions>;

function openServer(options: Options = {}, around?: (handle: RequestListener) => RequestListener) {
  return openScene(() => {
    const handle = callbackHandler({
      signingSecret: SECRET,
      onPayment() {},
      onRejected: () => undefined,
      onPaymentTimeoutMs: WORK_TIMEOUT_MS,
      ...options,
    });
    return createServer(around?.(handle) ?? handle);
  });
}

/** Head and body in one packet. */
function onePacket({ rawBody, headers } = sign()): Buffer {
  return Buffer.concat([Buffer.from(writeHead(headers, rawBody.length)), rawBody]);
}

async function post(scene: Scene, packet: Uint8Array): Promise<number> {
  const client = await openRawClient(scene);
  await client.send(packet);
  return (await client.readAnswer()).status;
}

/** The delays of all timers that are set from now on. */
function watchTimers(): () => readonly unknown[] {
  const spy = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.map(([, delayMs]) => delayMs);
}

it('sets no timer for an onPayment that returns', async () => {
  const scene = await openServer();
  const delays = watchTimers();
  expect(await post(scene, onePacket())).toBe(200);
  expect(delays()).not.toContain(WORK_TIMEOUT_MS);
});

it('adds to such a request no listener but one for its errors', async () => {
  const counts: number[] = [];
  const scene = await openServer({}, (handle) => async (request, response) => {
    const count = () =>
      ['data', 'end', 'close', 'error'].map((event) => request.listenerCount(event));
    const before = count();
    await handle(request, response);
    counts.push(...count().map((after, index) => after - (before[index] ?? 0)));
  });
  await post(scene, onePacket());
  await waitFor(() => expect(counts).toEqual([0, 0, 0, 1]));
});

it('sets both for a body that comes later, and for an onPayment that does not return at once', async () => {
  const scene = await openServer({ async onPayment() {} });
  const delays = watchTimers();
  const { rawBody, headers } = sign();
  const client = await openRawClient(scene);
  await client.send(writeHead(headers, rawBody.length));
  await waitFor(() => expect(delays()).toContain(BODY_TIMEOUT_MS));
  await client.send(rawBody);
  expect(await client.readAnswer()).toMatchObject({ status: 200 });
  expect(delays()).toContain(WORK_TIMEOUT_MS);
});

it('takes a body of which only a part is in the packet of its head', async () => {
  const scene = await openServer();
  const packet = onePacket();
  const client = await openRawClient(scene);
  await client.send(packet.subarray(0, -10));
  await client.send(packet.subarray(-10));
  expect(await client.readAnswer()).toMatchObject({ status: 200 });
});

it('answers many such requests on one connection, also when they come in one packet', async () => {
  const scene = await openServer();
  const client = await openRawClient(scene);
  for (let turn = 0; turn < 3; turn += 1) {
    await client.send(onePacket(sign({ referenceNumber: `one-${turn}` })));
    expect(await client.readAnswer()).toMatchObject({
      status: 200,
      headers: { connection: 'keep-alive' },
    });
  }
  const both = ['a', 'b'].map((referenceNumber) => onePacket(sign({ referenceNumber })));
  await client.send(Buffer.concat(both));
  expect(await client.readAnswer()).toMatchObject({ status: 200 });
  expect(await client.readAnswer()).toMatchObject({ status: 200 });
  expect(scene.connections).toHaveLength(1);
});

it.each([
  [0, 200],
  [-1, 413],
])('compares such a body with maxBodyBytes: %i bytes more are %i', async (more, status) => {
  const signed = sign();
  const scene = await openServer({ maxBodyBytes: signed.rawBody.length + more });
  expect(await post(scene, onePacket(signed))).toBe(status);
});

it('shares it with a listener that is added in the same turn', async () => {
  let overheard = '';
  const scene = await openServer({}, (handle) => (request, response) => {
    handle(request, response);
    request.on('data', (chunk) => {
      overheard += chunk;
    });
  });
  const signed = sign();
  expect(await post(scene, onePacket(signed))).toBe(200);
  expect(overheard).toBe(Buffer.from(signed.rawBody).toString());
});

it('shares it with one that reads it chunk by chunk, added in the same turn', async () => {
  let overheard = '';
  const scene = await openServer({}, (handle) => (request, response) => {
    handle(request, response);
    request.on('readable', () => {
      overheard += request.read() ?? '';
    });
  });
  const signed = sign();
  expect(await post(scene, onePacket(signed))).toBe(200);
  expect(overheard).toBe(Buffer.from(signed.rawBody).toString());
});

it('takes the whole body when something else reads a part of it meanwhile', async () => {
  const bodies: string[] = [];
  const onPayment = ({ rawBody }: { rawBody: Uint8Array }) =>
    void bodies.push(Buffer.from(rawBody).toString());
  const scene = await openServer({ onPayment }, (handle) => (request, response) => {
    // The rest of the packet is there at once.
    setImmediate(() => {
      handle(request, response);
      request.read(10);
    });
  });
  const signed = sign();
  expect(await post(scene, onePacket(signed))).toBe(200);
  expect(bodies).toEqual([Buffer.from(signed.rawBody).toString()]);
});

it('does not wait for a tick, which the fake timers of Jest hold up', async () => {
  const scene = await openServer({}, (handle) => (request, response) => {
    const spies = [vi.spyOn(process, 'nextTick'), vi.spyOn(globalThis, 'queueMicrotask')];
    for (const spy of spies) spy.mockImplementation(() => undefined);
    handle(request, response);
    for (const spy of spies) spy.mockRestore();
  });
  expect(await post(scene, onePacket())).toBe(200);
});

it('takes one that came while the request waited for a middleware', async () => {
  const scene = await openServer({}, (handle) => async (request, response) => {
    await new Promise(setImmediate);
    await handle(request, response);
  });
  expect(await post(scene, onePacket())).toBe(200);
  expect(await deliver(scene, { ...sign(), chunked: true })).toMatchObject({ status: 200 });
});

it('does not run onPayment again for a packet that is sent twice', async () => {
  const keys: string[] = [];
  const scene = await openServer({ onPayment: ({ key }) => void keys.push(key) });
  const packet = onePacket();
  expect([await post(scene, packet), await post(scene, packet)]).toEqual([200, 200]);
  expect(keys).toHaveLength(1);
});
