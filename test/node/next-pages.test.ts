import { createServer, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { expectProcessed, expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { deliver, type MakeServer, openScene, sign } from '../receiver/adapter-contract/scene.js';

/** As a platform does that adds to the request before it calls the page's handler. */
const prepared =
  (prepare: (request: IncomingMessage) => unknown): MakeServer =>
  (options) => {
    const handler = callbackHandler(options);
    return createServer(async (request, response) => {
      await prepare(request);
      await handler(request, response);
    });
  };

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a page of Next.js, or another platform that hands on a request of node:http', () => {
  it('works with the parser off', () =>
    expectProcessed(prepared((request) => Object.assign(request, { query: {}, cookies: {} }))));

  it.each([true, false])('may have inflated a body, signed as it came: %s', async (asItCame) => {
    const scene = await openScene(
      prepared(async (request) => {
        const rawBody = await readAll(request);
        Object.assign(request, { rawBody, body: gunzipSync(rawBody) });
      }),
    );
    const plain = sign();
    const rawBody = gzipSync(plain.rawBody);
    const headers = { ...(asItCame ? sign(rawBody) : plain).headers, 'content-encoding': 'gzip' };
    const { status } = await deliver(scene, { rawBody, headers });
    expect(status).toBe(asItCame ? 422 : 200);
  });

  it('is not asked for a body that it would parse, while the stream is unread', async () => {
    let touched = 0;
    await expectProcessed(
      prepared((request) =>
        Object.defineProperty(request, 'body', {
          get() {
            touched += 1;
            throw new Error('Invalid JSON');
          },
        }),
      ),
    );
    expect(touched).toBe(0);
  });

  it('may have put the bytes into rawBody or body', async () => {
    for (const name of ['rawBody', 'body']) {
      await expectProcessed(
        prepared(async (request) => Object.assign(request, { [name]: await readAll(request) })),
      );
    }
    await expectProcessed(
      prepared(async (request) => {
        Object.assign(request, { rawBody: (await readAll(request)).toString(), body: {} });
      }),
    );
  });

  it('must not have set an encoding: the text is not the bytes', () =>
    expectRemedy(
      prepared((request) => request.setEncoding('utf8')),
      'was read or decoded',
    ));

  it.each<[string, MakeServer]>([
    ['paused the request', prepared((request) => request.pause())],
    ['waited', prepared(() => new Promise(setImmediate))],
  ])('may have %s before it calls the handler', (_, makeServer) => expectProcessed(makeServer));

  it.each([
    ['has no bytes', () => new PassThrough().end()],
    ['was destroyed', () => new PassThrough().destroy()],
  ])('may hand on the bytes beside a stream that %s', (_, create) =>
    expectProcessed((options) => {
      const handler = callbackHandler(options);
      return createServer(async (request, response) => {
        const { method, headers } = request;
        const rawBody = await readAll(request);
        const given = Object.assign(create(), { method, headers, rawBody });
        await handler(given as unknown as IncomingMessage, response);
      });
    }),
  );
});
