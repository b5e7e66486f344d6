import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { BODY_TIMEOUT_MS } from '../../../src/receiver/body.js';
import { createGate } from '../../contract/gate.js';
import { openRawClient, type RawClient, writeHead } from './raw-client.js';
import { deliver, type MakeServer, openScene, type Scene, sign } from './scene.js';

interface ConnectionOptions {
  /** Whether a reply to a body that was not read announces that the connection is closed. */
  readonly saysClose?: boolean;
}

/** What every adapter does with the connection below it. */
export function describeConnections(
  name: string,
  makeServer: MakeServer,
  { saysClose = true }: ConnectionOptions = {},
): void {
  describe(`a connection to ${name}`, () => {
    it('may cut a character of the body in two', async () => {
      const scene = await openScene(makeServer);
      const client = await openRawClient(scene);
      const { rawBody, headers } = sign({ merchantPaymentReference: 'x🧾y' });
      const middle = Buffer.from(rawBody).indexOf('🧾') + 2;
      const head = writeHead(headers, rawBody.length);
      await client.send(head);
      await client.send(rawBody.subarray(0, middle));
      await taken(scene, head.length + middle);
      await client.send(rawBody.subarray(middle));
      expect(await client.readAnswer()).toMatchObject({ status: 200 });
      expect(scene.callbacks[0]?.payment.merchantPaymentReference).toBe('x🧾y');
    });

    it('goes on after every reply to a request that was read', async () => {
      const scene = await openScene(makeServer, {
        onPayment() {
          if (scene.callbacks.length === 1) throw new Error('Once');
        },
      });
      const client = await openRawClient(scene);
      const { rawBody, headers } = sign();
      const statuses: number[] = [];
      for (const body of [rawBody, rawBody, Buffer.from('forged'), rawBody]) {
        await client.send(writeHead(headers, body.length));
        await client.send(body);
        statuses.push((await client.readAnswer()).status);
      }
      expect(statuses).toEqual([500, 200, 401, 200]);
      expect(scene.connections).toHaveLength(1);
    });

    it('is read no further than the limit, answered 413 and closed', async () => {
      const scene = await openScene(makeServer, { maxBodyBytes: 1_000 });
      const client = await openRawClient(scene);
      await client.send(writeHead(sign().headers, 'chunked'));
      client.sendForEver(Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`));
      const answer = await client.readAnswer();
      expect(answer.status).toBe(413);
      if (saysClose) expect(answer.headers['connection']).toBe('close');
      await client.closed;
      // What one or two reads of a socket bring; the client has sent megabytes by then.
      expect(scene.connections[0]?.bytesRead).toBeLessThan(1_000_000);
      expect(scene.reported).toEqual([]);
    });

    it.each([1_001, 2 ** 40, '18446744073709551615'])(
      'is answered 413 at once for a body of %s bytes, which never comes',
      async (length) => {
        const scene = await openScene(makeServer, { maxBodyBytes: 1_000 });
        const client = await openRawClient(scene);
        await client.send(writeHead(sign().headers, length as number));
        const answer = await client.readAnswer();
        expect(answer.status).toBe(413);
        if (saysClose) expect(answer.headers['connection']).toBe('close');
        await client.closed;
        expect(scene.callbacks).toEqual([]);
        expect(scene.reported).toEqual([]);
      },
    );

    it('is answered 408 when the body stalls, or its length is too long', async () => {
      const scene = await openScene(makeServer);
      const { rawBody, headers } = sign();
      for (const [length, sent] of [
        [rawBody.length, rawBody.subarray(0, 50)],
        [rawBody.length + 1, rawBody],
        ['chunked', ''],
      ] as const) {
        const client = await openRawClient(scene);
        await outwait(async () => {
          await client.send(writeHead(headers, length));
          await client.send(sent);
        });
        const answer = await client.readAnswer();
        expect(answer.status).toBe(408);
        if (saysClose) expect(answer.headers['connection']).toBe('close');
        await client.closed;
      }
      expect(scene.callbacks).toEqual([]);
      expect(scene.reported).toEqual([]);
    });

    it('may break in the body: nothing is reported, and the server goes on', async () => {
      const scene = await openScene(makeServer);
      const callback = sign();
      const head = writeHead(callback.headers, callback.rawBody.length);
      const client = await openRawClient(scene);
      await client.send(head);
      await client.send(callback.rawBody.subarray(0, 50));
      await taken(scene, head.length + 50);
      client.leave();
      await connectionClosed(scene);
      expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
      expect(scene.callbacks).toHaveLength(1);
      expect(scene.reported).toEqual([]);
    });

    it('is closed after a reply that did not wait for the body', async () => {
      const scene = await openScene(makeServer);
      const client = await openRawClient(scene);
      await client.send(writeHead({}, 1_000, 'PUT'));
      const answer = await client.readAnswer();
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      if (saysClose) expect(answer.headers['connection']).toBe('close');
      expect(await client.closed).toBe('');
    });

    it('tells onPayment by its signal when the client leaves', async () => {
      const started = createGate<void>();
      const aborted = createGate<void>();
      let reason: unknown;
      const scene = await openScene(makeServer, {
        async onPayment(_callback, { signal }) {
          started.open();
          if (!signal.aborted) await once(signal, 'abort');
          reason = signal.reason;
          aborted.open();
          throw reason;
        },
      });
      const client = await sendWhole(scene);
      await started.promise;
      client.leave();
      await aborted.promise;
      expect(reason).toBeDefined();
    });

    it('tells so too when the signal is first looked at afterwards', async () => {
      const started = createGate<void>();
      const left = createGate<void>();
      const looked = createGate<void>();
      let wasAborted = false;
      const scene = await openScene(makeServer, {
        async onPayment(_callback, context) {
          started.open();
          await left.promise;
          wasAborted = context.signal.aborted;
          looked.open();
        },
      });
      const client = await sendWhole(scene);
      await started.promise;
      client.leave();
      await connectionClosed(scene);
      left.open();
      await looked.promise;
      expect(wasAborted).toBe(true);
    });

    it('does not abort the signal after a reply', async () => {
      let signal: AbortSignal | undefined;
      const scene = await openScene(makeServer, {
        onPayment(_callback, context) {
          signal = context.signal;
        },
      });
      expect(await deliver(scene, sign())).toMatchObject({ status: 200 });
      await connectionClosed(scene);
      expect(signal?.aborted).toBe(false);
    });
  });
}

/** Sends a part of a request, and lets the time pass for which the server waits for the rest. */
export async function outwait(send: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await send();
    while (vi.getTimerCount() === 0) await new Promise(setImmediate);
    vi.advanceTimersByTime(BODY_TIMEOUT_MS);
  } finally {
    vi.useRealTimers();
  }
}

async function sendWhole(scene: Scene): Promise<RawClient> {
  const { rawBody, headers } = sign();
  const client = await openRawClient(scene);
  await client.send(writeHead(headers, rawBody.length));
  await client.send(rawBody);
  return client;
}

/** Settles when the server has taken that many bytes off its first connection. */
async function taken({ connections }: Scene, bytes: number): Promise<void> {
  while ((connections[0]?.bytesRead ?? 0) < bytes) await new Promise(setImmediate);
}

async function connectionClosed({ connections }: Scene): Promise<void> {
  const [socket] = connections;
  if (socket !== undefined && !socket.closed) {
    await new Promise((resolve) => socket.on('close', resolve));
  }
  // The response learns of it in the same turn, after the listener above or before.
  await new Promise(setImmediate);
}
