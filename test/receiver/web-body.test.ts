import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { BODY_TIMEOUT_MS, readWebBody } from '../../src/receiver/body.js';
import { waitFor } from '../wait-for.js';

const limits = { maxBodyBytes: 10 };

function requestOf(body: NonNullable<RequestInit['body']> | null): Request {
  return new Request('http://127.0.0.1/', { method: 'POST', body, duplex: 'half' });
}

function bytes(length: number): Uint8Array {
  return new Uint8Array(length).fill(0x61);
}

it.each([
  ['no body', null, 0],
  ['an empty body', '', 0],
  ['one chunk', bytes(10), 10],
])('gives the bytes of %s', async (_name, body, length) => {
  const read = await readWebBody(requestOf(body), limits);
  expect(read).toEqual(bytes(length));
});

const chunksOf: [string, (text: string) => unknown][] = [
  ['a Uint8Array', (text) => new TextEncoder().encode(text)],
  ['a Buffer', (text) => Buffer.from(text)],
  ['an ArrayBuffer', (text) => new TextEncoder().encode(text).buffer],
  ['a string', (text) => text],
  [
    'bytes of another realm',
    (text) => runInNewContext('Uint8Array.from(bytes)', { bytes: [...Buffer.from(text)] }),
  ],
];

function inChunks(...chunks: readonly unknown[]): Request {
  return requestOf(ReadableStream.from(chunks) as ReadableStream<Uint8Array>);
}

it.each(chunksOf)('takes chunks that are %s, and counts their bytes', async (_name, make) => {
  const [first, second] = [make('é'), make('abcdefgh')];
  expect(new TextDecoder().decode(await readWebBody(inChunks(first, second), limits))).toBe(
    'éabcdefgh',
  );
  for (const chunks of [[first, second, make('i')], [make('éééééé')]]) {
    await expect(readWebBody(inChunks(...chunks), limits)).rejects.toMatchObject({ status: 413 });
  }
});

it.each([
  ['objects', { status: 'paid' }],
  ['words', new Uint16Array(2)],
])('refuses chunks that are %s, and says what to do', async (_name, chunk) => {
  await expect(readWebBody(inChunks(chunk), limits)).rejects.toMatchObject({
    code: 'RAW_BODY_REQUIRED',
    message: expect.stringContaining('Pass the request on before anything reads it'),
  });
});

it('pulls nothing beyond the limit, and cancels the body once the reply is under way', async () => {
  let pulled = 0;
  const cancelled = vi.fn();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(bytes(6));
      },
      cancel: cancelled,
    },
    { highWaterMark: 0 },
  );
  await expect(readWebBody(requestOf(body), limits)).rejects.toMatchObject({ status: 413 });
  // A server may take the cancelling for the end of the connection, and of the reply with it.
  expect(cancelled).not.toHaveBeenCalled();
  await waitFor(() => expect(cancelled).toHaveBeenCalled(), { interval: 1 });
  expect(pulled).toBe(2);
});

it('counts the time of the whole body, however busily it drips', async () => {
  vi.useFakeTimers();
  try {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        controller.enqueue(bytes(1));
      },
    });
    const outcome = readWebBody(requestOf(body), { maxBodyBytes: 1_000 });
    const seen = expect(outcome).rejects.toMatchObject({ status: 408 });
    await vi.advanceTimersByTimeAsync(BODY_TIMEOUT_MS);
    await seen;
  } finally {
    vi.useRealTimers();
  }
});

it('says 400 for a body that breaks off', async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('The client is gone')),
  });
  await expect(readWebBody(requestOf(body), limits)).rejects.toMatchObject({ status: 400 });
});

it.each([
  ['used', (request: Request) => request.text()],
  ['locked', (request: Request) => request.body?.getReader()],
  [
    'read in part and given back',
    async ({ body }: Request) => {
      const reader = body?.getReader();
      await reader?.read();
      reader?.releaseLock();
    },
  ],
])('refuses a body that is %s', async (_name, touch) => {
  const request = requestOf(bytes(1));
  await touch(request);
  await expect(readWebBody(request, limits)).rejects.toMatchObject({ code: 'RAW_BODY_REQUIRED' });
});
