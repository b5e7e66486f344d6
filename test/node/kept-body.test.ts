import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { openRawClient, writeHead } from '../receiver/adapter-contract/raw-client.js';
import { openScene, PATH, type Scene, sign } from '../receiver/adapter-contract/scene.js';

type Request = express.Request & { rawBody?: string | Buffer };
/** What a middleware does before it calls next(). */
type Keep = (request: Request, response: express.Response) => unknown;

const length = (request: Request) => Number(request.headers['content-length'] ?? 0);
const turn = () => new Promise(setImmediate);
const end = (request: Request) => new Promise((resolve) => request.on('end', resolve));
const firstChunk = (request: Request) => new Promise((resolve) => request.once('data', resolve));
const parse = (parser: express.Handler, request: Request, response: express.Response) =>
  new Promise((resolve) => parser(request, response, resolve));

function appendText(request: Request): void {
  request.rawBody = '';
  request.on('data', (chunk) => {
    request.rawBody += chunk;
  });
}

function appendBytes(request: Request): void {
  request.rawBody = Buffer.alloc(0);
  request.on('data', (chunk) => {
    request.rawBody = Buffer.concat([request.rawBody as Buffer, chunk]);
  });
}

/** Fills a Buffer of the right length, which is zeros at first. */
function fillInPlace(request: Request): void {
  const bytes = Buffer.alloc(length(request));
  request.rawBody = bytes;
  let offset = 0;
  request.on('data', (chunk: Buffer) => {
    offset += chunk.copy(bytes, offset);
  });
}

function setPlaceholder(request: Request, placeholder: string | Buffer): void {
  request.rawBody = placeholder;
}

/** What keeps the bytes, now or later: the handler gets them all. */
const whole: [string, Keep][] = [
  ['a text that fills', (request) => appendText(request)],
  ['a text that fills, decoded', (request) => appendText(request.setEncoding('utf8'))],
  [
    'a text that fills, found half full',
    (request) => {
      appendText(request.setEncoding('utf8'));
      return firstChunk(request);
    },
  ],
  ['a Buffer that fills', (request) => appendBytes(request)],
  [
    'a Buffer that is full',
    (request) => {
      appendBytes(request);
      return end(request);
    },
  ],
  ['an empty placeholder', (request) => setPlaceholder(request, '')],
  ['a placeholder of another length', (request) => setPlaceholder(request, Buffer.alloc(7))],
  [
    'a placeholder of the right length',
    (request) => setPlaceholder(request, Buffer.alloc(length(request))),
  ],
  ['a placeholder that is filled in place', fillInPlace],
  [
    'an empty placeholder before express.raw',
    (request, response) => {
      setPlaceholder(request, '');
      return parse(express.raw({ type: '*/*' }), request, response);
    },
  ],
];

/** What loses bytes: an error that names the middleware, not a forgery. */
const lost: [string, Keep][] = [
  [
    'the first chunk alone',
    async (request) => setPlaceholder(request, (await firstChunk(request)) as Buffer),
  ],
  [
    'an empty placeholder before express.json',
    (request, response) => {
      setPlaceholder(request, '');
      return parse(express.json(), request, response);
    },
  ],
  [
    'a Buffer that is never filled',
    (request) => {
      setPlaceholder(request, Buffer.alloc(0));
      return end(request.resume());
    },
  ],
  [
    'text whose characters were cut',
    (request) => {
      appendText(request);
      return end(request);
    },
  ],
];

describe.each([true, false])('behind a middleware (in chunks: %s) that keeps', (chunked) => {
  const open = (keep: Keep) =>
    openScene((options) =>
      createServer(express().post(PATH, before(keep), callbackHandler(options))),
    );

  it.each(whole)('%s, a genuine callback is taken and a forged one is refused', async (_, keep) => {
    const scene = await open(keep);
    expect(await post(scene, chunked)).toBe(200);
    expect(await post(scene, chunked, 'another')).toBe(401);
    expect(scene.callbacks).toHaveLength(1);
    expect(scene.reported).toEqual([]);
  });

  it.each(lost)('%s, what the middleware does is reported', async (what, keep) => {
    const scene = await open(keep);
    const status = await post(scene, chunked);
    // Without a length nobody can tell how much is missing.
    const canTell = !chunked || what === 'an empty placeholder before express.json';
    if (!canTell) return expect([401, 500]).toContain(status);
    expect(status).toBe(500);
    const message = expect.stringContaining('A middleware before the callback handler');
    expect(scene.reported).toMatchObject([{ error: { code: 'RAW_BODY_REQUIRED', message } }]);
  });
});

const before =
  (keep: Keep): express.Handler =>
  async (request, response, next) => {
    const kept = keep(request, response);
    if (kept instanceof Promise) await kept;
    next();
  };

/** Sends a callback in two pieces, cut within a character. */
async function post(scene: Scene, chunked: boolean, signingSecret?: string): Promise<number> {
  const payment = { merchantPaymentReference: '€-order' };
  const { rawBody, headers } = sign(payment, signingSecret === undefined ? {} : { signingSecret });
  const index = scene.connections.length;
  const client = await openRawClient(scene);
  const middle = Buffer.from(rawBody).indexOf('€') + 1;
  const framed = (piece: Uint8Array) => (chunked ? frame(piece) : piece);
  const pieces = [rawBody.subarray(0, middle), rawBody.subarray(middle)];
  const sent = [writeHead(headers, chunked ? 'chunked' : rawBody.length), ...pieces.map(framed)];
  let length = 0;
  for (const bytes of sent) {
    // Each piece by itself, unless the server has answered and closed the connection.
    while ((scene.connections.at(index)?.bytesRead ?? 0) < length) {
      if (scene.connections.at(index)?.destroyed) break;
      await turn();
    }
    await client.send(bytes);
    length += Buffer.byteLength(bytes);
  }
  if (chunked) await client.send('0\r\n\r\n');
  return (await client.readAnswer()).status;
}

function frame(piece: Uint8Array): Uint8Array {
  const size = piece.length.toString(16);
  return Buffer.concat([Buffer.from(`${size}\r\n`), piece, Buffer.from('\r\n')]);
}
