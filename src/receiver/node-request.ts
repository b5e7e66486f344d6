import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isUint8Array, type RawBody } from '../callback/body.js';
import { type BodyLimits, bodyWasRead, UnreadableBody } from './body.js';
import type { Awaitable } from './options.js';

/** What a framework keeps, on its request, of a body that it has read. */
interface KeptBody {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

const REMEDY =
  "Express: mount callbackHandler before express.json(), or put express.raw({ type: 'application/json' }) on this route; " +
  'NestJS: NestFactory.create(AppModule, { rawBody: true }); Koa: route to it before a body parser; ' +
  'Next.js pages: export const config = { api: { bodyParser: false } }; ' +
  'Fastify: let no preParsing hook read the payload of this route';

/**
 * The body of a Node request as it was received: what the framework kept of it on `request`, or
 * the stream's bytes, counted as they arrive. Beyond the limit nothing more is read.
 *
 * @throws {UnreadableBody} when it broke off, took too long or is too large
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when it was read before
 */
export function readNodeBody(
  source: Readable,
  request: object,
  limits: BodyLimits,
): Awaitable<RawBody> {
  const kept: KeptBody = request;
  const { rawBody } = kept;
  if (typeof rawBody === 'string' || isUint8Array(rawBody)) return rawBody;
  if (isUntouched(source))
    return mayComeAtOnce(source) ? takeWhole(source, limits) : collect(source, limits);
  // Only now: on some platforms `body` is a getter that parses.
  const { body } = kept;
  if (isUint8Array(body)) return body;
  throw bodyWasRead(REMEDY);
}

// With an encoding set the stream gives text that was decoded already.
function isUntouched(source: Readable): boolean {
  return !source.readableDidRead && !source.readableEnded && source.readableEncoding === null;
}

// On a request whose body was read as far as its length says, before the parser has noticed the end.
const WAS_TAKEN = Symbol('body was taken whole');

function mayComeAtOnce(source: Readable): boolean {
  return source.readableFlowing === null && lengthOf(source) !== undefined;
}

/** A body that has come with the head needs no deadline and no listeners for its chunks. */
async function takeWhole(source: Readable, limits: BodyLimits): Promise<Uint8Array> {
  let collecting: Promise<Uint8Array> | undefined;
  const stopWatching = (): void => {
    source.off('newListener', onListener).off('resume', share);
  };
  const share = (): void => {
    stopWatching();
    collecting = collect(source, limits);
  };
  const onListener = (event: string | symbol): void => {
    if (event === 'data' || event === 'readable') share();
  };
  // When something else begins to read it meanwhile, of which a later listener would miss a part.
  source.on('newListener', onListener).once('resume', share);
  // The rest of the packet is parsed when the handler has returned. No nextTick: fake timers hold it up.
  await undefined;
  stopWatching();
  if (collecting === undefined && !isUntouched(source)) throw bodyWasRead(REMEDY);
  return collecting ?? readAtOnce(source, limits) ?? collect(source, limits);
}

function readAtOnce(source: Readable, { maxBodyBytes }: BodyLimits): Uint8Array | undefined {
  const size = source.readableLength;
  const isWhole = size > 0 && lengthOf(source) === String(size);
  // A stream that flows gives its bytes to other listeners.
  if (!isWhole || size > maxBodyBytes || source.readableFlowing !== null) return undefined;
  if (source.destroyed || !isUntouched(source)) return undefined;
  source.on('error', ignore);
  const body: Uint8Array | null = source.read();
  (source as MarkedRequest)[WAS_TAKEN] = true;
  // The end is still to be read.
  source.resume();
  return body ?? undefined;
}

type MarkedRequest = object & { [WAS_TAKEN]?: true };

function lengthOf(source: Readable): string | undefined {
  return (source as Partial<IncomingMessage>).headers?.['content-length'];
}

function collect(source: Readable, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;

    const settle = (): void => {
      clearTimeout(timer);
      source.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken);
      // A stream that breaks afterwards must not end the process.
      source.on('error', ignore);
    };
    const refuse = (status: 400 | 408 | 413): void => {
      settle();
      source.pause();
      reject(new UnreadableBody(status));
    };
    const onData = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size > limits.maxBodyBytes) refuse(413);
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size));
    };
    const onBroken = (): void => refuse(400);

    const timer = setTimeout(() => refuse(408), limits.bodyTimeoutMs);
    source.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken);
    // A framework may have paused it.
    source.resume();
    // Destroyed before we listened: it emits no more events.
    if (source.destroyed) onBroken();
  });
}

function ignore(): void {}

/** A signal that aborts when the connection is closed before the response was sent. */
export function signalWhenGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (response.writableEnded) return;
    controller.abort(new DOMException('The client closed the connection', 'AbortError'));
  };
  if (response.closed) abort();
  else response.once('close', abort);
  return controller.signal;
}

/**
 * The unread rest of a body would be read as the next request of the connection. Over HTTP/2 the stream
 * is closed, which the client could keep open otherwise.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || (request as MarkedRequest)[WAS_TAKEN]) return;
  response.shouldKeepAlive = false;
  const { stream } = response as { stream?: Http2Stream };
  stream?.once('finish', () => stream.close());
}

/** What is used of the stream of an `Http2ServerResponse`. */
interface Http2Stream {
  once(event: 'finish', listener: () => void): unknown;
  /** Says by its code 0 that the answer is complete. */
  close(): void;
}
