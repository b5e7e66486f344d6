import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isUint8Array, type RawBody } from '../callback/body.js';
import type { Awaitable } from '../protocol/awaitable.js';
import { type BodyLimits, bodyWasRead, UnreadableBody } from './body.js';

/** Where frameworks keep a body that they have read. */
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
 * Reads the body of a Node request as received: from what the framework kept on `request`, or from the
 * stream, whose bytes are counted as they arrive. Beyond the limit it reads no more.
 *
 * @throws {UnreadableBody} when it broke off, took too long or is too large
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when it was already read
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
    return mayBeComplete(source) ? readIfComplete(source, limits) : collect(source, limits);
  // Not earlier: on some platforms `body` is a getter that parses.
  const { body } = kept;
  if (isUint8Array(body)) return body;
  throw bodyWasRead(REMEDY);
}

// With an encoding set, the stream yields decoded text.
function isUntouched(source: Readable): boolean {
  return !source.readableDidRead && !source.readableEnded && source.readableEncoding === null;
}

// Marks a request whose body was read in full, by its Content-Length, before the parser noticed the end.
const WAS_READ = Symbol('body was taken whole');

function mayBeComplete(source: Readable): boolean {
  return source.readableFlowing === null && lengthOf(source) !== undefined;
}

/** If the body arrived with the head, reads it without a deadline and without listeners for its chunks. */
async function readIfComplete(source: Readable, limits: BodyLimits): Promise<Uint8Array> {
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
  // If something else begins to read meanwhile, a later listener would miss chunks.
  source.on('newListener', onListener).once('resume', share);
  // The rest of the packet is parsed once the handler has returned. Not by nextTick, which fake timers block.
  await undefined;
  stopWatching();
  if (collecting === undefined && !isUntouched(source)) throw bodyWasRead(REMEDY);
  return collecting ?? readComplete(source, limits) ?? collect(source, limits);
}

function readComplete(source: Readable, { maxBodyBytes }: BodyLimits): Uint8Array | undefined {
  const size = source.readableLength;
  const isWhole = size > 0 && lengthOf(source) === String(size);
  // A flowing stream gives its bytes to other listeners.
  if (!isWhole || size > maxBodyBytes || source.readableFlowing !== null) return undefined;
  if (source.destroyed || !isUntouched(source)) return undefined;
  source.on('error', ignore);
  const body: Uint8Array | null = source.read();
  (source as MarkedRequest)[WAS_READ] = true;
  // Reads the end of the stream.
  source.resume();
  return body ?? undefined;
}

type MarkedRequest = object & { [WAS_READ]?: true };

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
      // If the stream breaks later, that must not end the process.
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
    // A framework may have paused the stream.
    source.resume();
    // A stream that was destroyed earlier emits no events.
    if (source.destroyed) onBroken();
  });
}

function ignore(): void {}

/** Returns a signal that aborts when the connection is closed before the response is sent. */
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
 * Closes the connection after the response if the body was not read to its end: the rest would be taken for
 * the next request. Over HTTP/2 it closes the stream, which the client could otherwise keep open.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || (request as MarkedRequest)[WAS_READ]) return;
  response.shouldKeepAlive = false;
  const { stream } = response as { stream?: Http2Stream };
  stream?.once('finish', () => stream.close());
}

/** The part of an `Http2ServerResponse`'s stream that is used. */
interface Http2Stream {
  once(event: 'finish', listener: () => void): unknown;
  /** Closes with code 0: the answer is complete. */
  close(): void;
}
