import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isUint8Array, type RawBody } from '../callback/body.js';
import { type BodyLimits, bodyWasRead, UnreadableBody } from './body.js';
import { lengthOf, listRawBodies, REMEDY, sizeOf, takeKeptBodies } from './kept-body.js';

/** A request of node:http, and what its framework has made of it. */
export interface NodeBodySource {
  /** The stream to read: the request itself, unless a hook has put another in its place. */
  readonly stream: Readable;
  /** The request's headers. */
  readonly headers: IncomingHttpHeaders;
  /** The objects on which a framework may have kept the body. */
  readonly keepers: readonly object[];
}

/**
 * Reads the body of a Node request as received: from its stream, whose bytes are counted as they arrive, or, if
 * something else has read that, from what was kept. Beyond the limit it reads no more.
 *
 * @throws {UnreadableBody} when it broke off, took too long or is too large
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when it was already read, and not kept whole
 */
export async function readNodeBody(
  { stream, headers, keepers }: NodeBodySource,
  limits: BodyLimits,
): Promise<readonly RawBody[]> {
  const kept = listRawBodies(keepers);
  const isUnread = isUntouched(stream) && !(stream.destroyed && kept.length > 0);
  if (!isUnread) {
    // A middleware that keeps the body as it comes may still be at it.
    if (isBeingRead(stream)) await collect(stream, limits);
    return takeKeptBodies(keepers, headers, stream.readableEnded !== false);
  }
  const body = await (mayBeComplete(stream)
    ? readIfComplete(stream, limits)
    : collect(stream, limits));
  if (kept.length === 0) return [body];
  const length = lengthOf(headers);
  // A hook may have put an inflated stream in place of the bytes that it kept, and a platform one without bytes.
  const whole = kept.filter((one) =>
    length === undefined
      ? body.byteLength === 0 && sizeOf(one) > 0
      : body.byteLength !== length && sizeOf(one) === length,
  );
  return [...whole, body];
}

// With an encoding set, the stream yields decoded text.
function isUntouched(source: Readable): boolean {
  return !source.readableDidRead && !source.readableEnded && source.readableEncoding === null;
}

function isBeingRead(source: Readable): boolean {
  if (source.readableEnded !== false || source.destroyed) return false;
  return source.readableFlowing === true || source.listenerCount('readable') > 0;
}

// Marks a request whose body was read in full, by its Content-Length, before the parser noticed the end.
const WAS_READ = Symbol('body was taken whole');

function mayBeComplete(source: Readable): boolean {
  return source.readableFlowing === null && lengthOf(headersOf(source)) !== undefined;
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
  const isWhole = size > 0 && lengthOf(headersOf(source)) === size;
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

const headersOf = (source: Readable) => (source as Partial<IncomingMessage>).headers;

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
    const refuse = (error: Error | UnreadableBody): void => {
      settle();
      source.pause();
      reject(error);
    };
    const onData = (given: unknown): void => {
      const chunk = typeof given === 'string' ? Buffer.from(given) : given;
      if (isUint8Array(chunk)) {
        size += chunk.length;
        if (size > limits.maxBodyBytes) refuse(new UnreadableBody(413));
        else chunks.push(chunk);
      } else refuse(bodyWasRead(REMEDY));
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size));
    };
    const onBroken = (): void => refuse(new UnreadableBody(400));

    const timer = setTimeout(() => refuse(new UnreadableBody(408)), limits.bodyTimeoutMs);
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
