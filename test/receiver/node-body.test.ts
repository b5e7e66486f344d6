import { PassThrough, Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { UnreadableBody } from '../../src/receiver/body.js';
import { readNodeBody } from '../../src/receiver/node-request.js';

const limits = { maxBodyBytes: 10, bodyTimeoutMs: 60_000 };

async function read(source: Readable, kept: object = {}, own: Partial<typeof limits> = {}) {
  return readNodeBody(source, kept, { ...limits, ...own });
}

it('joins chunks in their order, also one that cuts a character', async () => {
  const source = new PassThrough();
  const body = read(source);
  source.write(Uint8Array.of(0xe2, 0x82));
  source.write(Uint8Array.of(0xac));
  source.end('!');
  expect(Buffer.from((await body) as Uint8Array).toString()).toBe('€!');
});

it('leaves no listener on the stream but one for its errors, which would end the process', async () => {
  const source = new PassThrough();
  const events = ['data', 'end', 'close', 'error'] as const;
  const before = events.map((event) => source.listenerCount(event));
  const body = read(source);
  source.end('!');
  await body;
  const added = events.map((event, index) => source.listenerCount(event) - (before[index] ?? 0));
  expect(added).toEqual([0, 0, 0, 1]);
});

it('gives no bytes for an empty body', async () => {
  const source = new PassThrough();
  source.end();
  expect(await read(source)).toHaveLength(0);
});

it.each([
  [9, 1],
  [10, 0],
])('takes %i bytes and %i more under a limit of 10', async (first, more) => {
  const source = new PassThrough();
  source.write(Buffer.alloc(first));
  source.end(Buffer.alloc(more));
  expect(await read(source)).toHaveLength(10);
});

it('stops beyond the limit, with 413, and takes nothing more', async () => {
  let produced = 0;
  const source = new Readable({
    highWaterMark: 1,
    read() {
      produced += 1;
      setImmediate(() => this.push(Buffer.alloc(6)));
    },
  });
  await expect(read(source)).rejects.toEqual(new UnreadableBody(413));
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  // One that was under way, as a stream reads ahead.
  expect(produced).toBeLessThanOrEqual(3);
  expect(source.isPaused()).toBe(true);
  for (const event of ['data', 'end', 'close']) expect(source.listenerCount(event), event).toBe(0);
});

it('stops reading a body that stalls, with 408', async () => {
  vi.useFakeTimers();
  try {
    const source = new PassThrough();
    source.write('half');
    const seen = expect(read(source, {}, { bodyTimeoutMs: 5_000 })).rejects.toEqual(
      new UnreadableBody(408),
    );
    await vi.advanceTimersByTimeAsync(4_999);
    expect(source.isPaused()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await seen;
  } finally {
    vi.useRealTimers();
  }
});

it.each<[string, (source: PassThrough) => unknown]>([
  ['ends', (source) => source.end()],
  ['breaks', (source) => source.destroy()],
  ['is too large', (source) => source.write(Buffer.alloc(11))],
])('leaves no timer behind when the body %s', async (_name, settle) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const source = new PassThrough();
    const body = read(source).catch(() => undefined);
    settle(source);
    await body;
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it.each<[string, (source: PassThrough) => unknown]>([
  ['closes', (source) => source.destroy()],
  ['fails', (source) => source.destroy(new Error('aborted'))],
])('says 400 for a stream that %s midway', async (_name, end) => {
  const source = new PassThrough();
  source.write('half');
  const body = read(source);
  end(source);
  await expect(body).rejects.toEqual(new UnreadableBody(400));
  // A further one must not end the process.
  expect(() => source.emit('error', new Error('again'))).not.toThrow();
});

it('says 400 for a stream that was destroyed before', async () => {
  const source = new PassThrough();
  source.destroy();
  await new Promise(setImmediate);
  await expect(read(source)).rejects.toEqual(new UnreadableBody(400));
});

it('resumes a stream that was paused', async () => {
  const source = new PassThrough();
  source.pause();
  source.end('body');
  expect(String(await read(source))).toBe('body');
});

it('shares the stream with a listener added in the same turn', async () => {
  const source = new PassThrough();
  const overheard: Buffer[] = [];
  source.on('data', (chunk) => overheard.push(chunk));
  const body = read(source);
  source.end('body');
  expect(String(await body)).toBe('body');
  expect(Buffer.concat(overheard).toString()).toBe('body');
});

it.each([
  ['text', 'kept'],
  ['a Buffer', Buffer.from('kept')],
  ['bytes of another realm', runInNewContext('Uint8Array.of(107, 101, 112, 116)')],
])('prefers a rawBody of %s, without touching stream or body', async (_name, rawBody) => {
  const source = new PassThrough();
  const kept = {
    rawBody,
    get body() {
      throw new Error('Touched');
    },
  };
  expect(await read(source, kept)).toBe(rawBody);
  expect(source.readableFlowing).toBeNull();
});

it('prefers an unread stream to any body, which it does not touch', async () => {
  const source = new PassThrough();
  source.end('stream');
  const kept = {
    rawBody: { parsed: true },
    get body() {
      throw new Error('Touched');
    },
  };
  expect(String(await read(source, kept))).toBe('stream');
});

it.each<[string, () => PassThrough | Promise<PassThrough>]>([
  ['was read in part', () => readOnce()],
  ['was read to its end', () => readToEnd('all')],
  ['was found empty', () => readToEnd('')],
  ['decodes its text', () => new PassThrough({ encoding: 'utf8' })],
  ['is no stream', () => ({ parsed: true }) as unknown as PassThrough],
])('takes a Buffer body of a stream that %s, and refuses any other', async (_name, create) => {
  const body = Buffer.from('kept');
  expect(await read(await create(), { body })).toBe(body);
  for (const other of [
    undefined,
    null,
    {},
    { parsed: true },
    'text',
    [],
    new DataView(body.buffer),
  ]) {
    await expect(read(await create(), { body: other })).rejects.toMatchObject({
      code: 'RAW_BODY_REQUIRED',
    });
  }
});

it.each([
  'Express: mount callbackHandler before express.json()',
  "express.raw({ type: 'application/json' })",
  'NestJS: NestFactory.create(AppModule, { rawBody: true })',
  'Koa: route to it before a body parser',
  'Next.js pages: export const config = { api: { bodyParser: false } }',
  'Fastify: let no preParsing hook read the payload',
])('names the remedy: %s', async (remedy) => {
  await expect(read(await readToEnd('all'))).rejects.toMatchObject({
    message: expect.stringContaining(remedy),
  });
});

async function readOnce(): Promise<PassThrough> {
  const source = new PassThrough();
  source.write('first');
  await new Promise((resolve) => source.once('readable', resolve));
  source.read(1);
  return source;
}

async function readToEnd(body: string): Promise<PassThrough> {
  const source = new PassThrough();
  source.end(body);
  for await (const _chunk of source);
  return source;
}
