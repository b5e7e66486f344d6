import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/fetch/callback-handler.js';
import { SECRET, sign } from './adapter-contract/scene.js';

type Body = NonNullable<RequestInit['body']>;

/** Hands a signed request with this body to the handler for `Request`. */
async function handle(body: Body, maxBodyBytes = 65_536, touch = async (_: Request) => {}) {
  const reported: unknown[] = [];
  const report = (error: unknown) => void reported.push(error);
  const options = { signingSecret: SECRET, maxBodyBytes, onError: report, onRejected: report };
  const handler = callbackHandler({ ...options, onPayment() {} });
  const { headers } = signed;
  const request = new Request('http://shop/', { method: 'POST', headers, body, duplex: 'half' });
  await touch(request);
  const { status } = await handler(request);
  return { status, reported };
}

const signed = sign({ merchantPaymentReference: 'é' });
const bytes = Buffer.from(signed.rawBody);
const inChunks = (...chunks: readonly unknown[]) => ReadableStream.from(chunks) as unknown as Body;

it.each<[string, (bytes: Buffer) => unknown]>([
  ['a Uint8Array', (part) => new Uint8Array(part)],
  ['an ArrayBuffer', (part) => new Uint8Array(part).buffer],
  ['a string', (part) => part.toString()],
  [
    'bytes of another realm',
    (part) => runInNewContext('Uint8Array.from(bytes)', { bytes: [...part] }),
  ],
])('takes chunks that are %s, and counts their bytes', async (_name, make) => {
  const chunks = [make(bytes.subarray(0, 20)), make(bytes.subarray(20))];
  expect(await handle(inChunks(...chunks), bytes.length)).toEqual({ status: 200, reported: [] });
  expect(await handle(inChunks(...chunks), bytes.length - 1)).toMatchObject({ status: 413 });
});

it.each<[string, Body, ((request: Request) => Promise<void>)?]>([
  ['has chunks that are objects', inChunks({ status: 'paid' })],
  ['has chunks that are words', inChunks(new Uint16Array(2))],
  ['is locked', bytes, async ({ body }) => void body?.getReader()],
  [
    'was read in part and given back',
    bytes,
    async ({ body }) => {
      const reader = body?.getReader();
      await reader?.read();
      reader?.releaseLock();
    },
  ],
])('refuses a body that %s, and says what to do', async (_name, body, touch) => {
  const message = expect.stringContaining('Pass the request on before anything reads it');
  expect(await handle(body, undefined, touch)).toMatchObject({
    status: 500,
    reported: [{ code: 'RAW_BODY_REQUIRED', message }],
  });
});

it('answers 400 to a body that breaks off', async () => {
  const pull = (controller: ReadableStreamDefaultController) => controller.error(new Error('gone'));
  expect(await handle(new ReadableStream({ pull }))).toMatchObject({
    status: 400,
    reported: [{ code: 'BODY_INCOMPLETE' }],
  });
});
