import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readNodeBody } from '../../src/receiver/node-request.js';

const limits = { maxBodyBytes: 10 };

async function read(source: Readable, kept: object = {}, own: Partial<typeof limits> = {}) {
  const { headers = {} } = source as Partial<IncomingMessage>;
  const bodies = await readNodeBody(
    { stream: source, headers, keepers: [kept] },
    { ...limits, ...own },
  );
  return bodies[0] as Uint8Array;
}

it.each([
  [9, 1],
  [10, 0],
])('takes %i bytes and %i more under a limit of 10', async (first, more) => {
  const source = new PassThrough();
  source.write(Buffer.alloc(first));
  source.end(Buffer.alloc(more));
  expect(await read(source)).toHaveLength(10);
});

it.each<[string, (source: PassThrough) => unknown]>([
  ['closes', (source) => source.destroy()],
  ['fails', (source) => source.destroy(new Error('aborted'))],
])('says 400 for a stream that %s midway', async (_name, end) => {
  const source = new PassThrough();
  source.write('half');
  const body = read(source);
  end(source);
  await expect(body).rejects.toMatchObject({ status: 400 });
  // A further one must not end the process.
  expect(() => source.emit('error', new Error('again'))).not.toThrow();
});

it.each([
  ['text', 'kept'],
  ['a Buffer', Buffer.from('kept')],
  ['bytes of another realm', runInNewContext('Uint8Array.of(107, 101, 112, 116)')],
])(
  'takes a rawBody of %s once the stream was read, without touching body',
  async (_name, rawBody) => {
    const kept = {
      rawBody,
      get body() {
        throw new Error('Touched');
      },
    };
    expect(await read(await readToEnd('kept'), kept)).toBe(rawBody);
    expect(await read(withLength(await readToEnd('kept'), 4), kept)).toBe(rawBody);
  },
);

it.each<[string, number | undefined, () => PassThrough]>([
  ['has no bytes', 4, () => new PassThrough().end()],
  ['has no bytes, nor a length', undefined, () => new PassThrough().end()],
  ['was destroyed', 4, () => new PassThrough().destroy()],
])('takes what a platform kept whose stream %s', async (_name, length, create) => {
  expect(await read(withLength(create(), length), { rawBody: 'kept' })).toBe('kept');
});

it('waits for the end of a stream that something else is still reading', async () => {
  for (const [length, event] of [
    [8, 'data'],
    [undefined, 'data'],
    [8, 'readable'],
  ] as const) {
    const source = withLength(new PassThrough(), length);
    const kept = { rawBody: '' };
    source.on(event, (chunk) => {
      kept.rawBody += chunk ?? source.read() ?? '';
    });
    source.write('half');
    await new Promise((resolve) => setImmediate(resolve));
    expect(kept.rawBody).toBe('half');
    const body = read(source, kept);
    source.end('half');
    expect(await body).toBe('halfhalf');
  }
});

it.each<[string, number | undefined, object, () => PassThrough | Promise<PassThrough>]>([
  ['less than the length', 5, { rawBody: 'kept' }, () => readToEnd('kept!')],
  ['more than the length', 3, { rawBody: 'k\ufffdt' }, () => readToEnd('ket')],
  ['nothing of it', 4, { rawBody: '', body: { parsed: true } }, () => readToEnd('kept')],
  ['an empty Buffer', 4, { rawBody: Buffer.alloc(0) }, () => readToEnd('kept')],
  [
    'nothing of chunks that were parsed',
    undefined,
    { rawBody: '', body: { a: 1 } },
    () => readToEnd('kept'),
  ],
  ['a part of chunks, before their end', undefined, { rawBody: 'f' }, () => readOnce()],
  ['a part of a Buffer', 5, { body: Buffer.from('kept') }, () => readToEnd('kept!')],
])('names the middleware that kept %s', async (_name, length, kept, create) => {
  await expect(read(withLength(await create(), length), kept)).rejects.toMatchObject({
    code: 'RAW_BODY_REQUIRED',
    message: expect.stringMatching(/^A middleware before the callback handler kept \d+ bytes of/),
  });
});

it('takes the bytes of the wire first, then those that were inflated', async () => {
  const rawBody = gzipSync('inflated');
  const headers = { 'content-encoding': 'gzip', 'content-length': String(rawBody.length) };
  const stream = await readToEnd('gone');
  const body = Buffer.from('inflated');
  const large = { ...limits, maxBodyBytes: 1_000 };
  const keepers = [{ rawBody, body }];
  expect(await readNodeBody({ stream, headers, keepers }, large)).toEqual([rawBody, body]);
  const swapped = [{ rawBody: body, body: rawBody }];
  const both = await readNodeBody({ stream, headers, keepers: swapped }, large);
  expect(both).toEqual([rawBody, body]);
  expect(await readNodeBody({ stream, headers, keepers: [{ body }] }, large)).toEqual([body]);
});

it('takes the bytes of the wire before a stream that a hook has put in their place', async () => {
  const rawBody = gzipSync('inflated');
  const headers = { 'content-encoding': 'gzip', 'content-length': String(rawBody.length) };
  const source = { stream: Readable.from(['inflated']), headers, keepers: [{ rawBody }] };
  const bodies = await readNodeBody(source, { ...limits, maxBodyBytes: 1_000 });
  expect(bodies.map(String)).toEqual([String(rawBody), 'inflated']);
});

it.each([
  ['text', ['é', 'ab'], 'éab'],
  ['bytes', [Buffer.from('é'), Buffer.from('ab')], 'éab'],
])('counts chunks of %s in bytes', async (_name, chunks, text) => {
  expect(String(await read(Readable.from(chunks), {}, { maxBodyBytes: 4 }))).toBe(text);
  await expect(read(Readable.from(chunks), {}, { maxBodyBytes: 3 })).rejects.toMatchObject({
    status: 413,
  });
});

it.each<[string, () => PassThrough | Promise<PassThrough>]>([
  ['was read in part, with the length', async () => withLength(await readOnce(), 4)],
  ['was read to its end', () => readToEnd('all')],
  ['was found empty', () => readToEnd('')],
  ['decodes its text', async () => decoded('all')],
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

/** A stream that gives text, read to its end. */
async function decoded(body: string): Promise<PassThrough> {
  const source = new PassThrough({ encoding: 'utf8' });
  source.end(body);
  for await (const _chunk of source);
  return source;
}

/** As node:http gives a request with a Content-Length. */
function withLength<Stream extends PassThrough>(
  stream: Stream,
  length: number | undefined,
): Stream {
  const headers = length === undefined ? {} : { 'content-length': String(length) };
  return Object.assign(stream, { headers });
}
