import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { isUint8Array, type RawBody } from '../callback/body.js';
import { findContentEncoding } from '../callback/headers.js';
import { CallbackVerificationError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import {
  assertAnnouncedSize,
  BODY_TIMEOUT_MS,
  type BodyLimits,
  bodyWasRead,
  UnreadableBody,
} from './body.js';

/** A request of node:http, and what its framework has made of it. */
export interface NodeBodySource {
  /** The stream to read: the request itself, unless a hook has put another in its place. */
  readonly stream: Readable;
  readonly headers: IncomingHttpHeaders;
  /** The objects on which a framework may have kept the body. */
  readonly keepers: readonly object[];
}

/**
 * Reads the body of a Node request as received: from its stream, whose bytes are counted as they arrive, or, if
 * something else has read that, from what was kept. Beyond the limit it reads no more.
 */
export async function readNodeBody(
  { stream, headers, keepers }: NodeBodySource,
  limits: BodyLimits,
): Promise<readonly RawBody[]> {
  assertAnnouncedSize(headers['content-length'], limits);
  const kept = listRawBodies(keepers);
  const isUnread = isUntouched(stream) && !(stream.destroyed && kept.length > 0);
  if (!isUnread) {
    // A middleware that keeps the body as it comes may still be at it.
    if (isBeingRead(stream)) await collect(stream, limits);
    return takeKeptBodies(keepers, headers, stream.readableEnded !== false);
  }
  const body = await collect(stream, limits);
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
const isUntouched = (source: Readable): boolean =>
  !source.readableDidRead && !source.readableEnded && source.readableEncoding === null;

function isBeingRead(source: Readable): boolean {
  if (source.readableEnded !== false || source.destroyed) return false;
  return source.readableFlowing === true || source.listenerCount('readable') > 0;
}

function collect(source: Readable, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;

    const settle = (): void => {
      clearTimeout(timer);
      source.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken);
      // If the stream breaks later, that must not end the process.
      source.on('error', () => undefined);
    };
    const refuse = (error: Error): void => {
      settle();
      source.pause();
      reject(error);
    };
    const onData = (given: unknown): void => {
      const chunk = typeof given === 'string' ? Buffer.from(given) : given;
      if (isUint8Array(chunk)) {
        size += chunk.length;
        if (size > limits.maxBodyBytes) refuse(new UnreadableBody(413, limits));
        else chunks.push(chunk);
      } else refuse(bodyWasRead(REMEDY));
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size));
    };
    const onBroken = (): void => refuse(new UnreadableBody(400, limits));

    const timer = setTimeout(() => refuse(new UnreadableBody(408, limits)), BODY_TIMEOUT_MS);
    source.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken);
    // A framework may have paused the stream.
    source.resume();
    // A stream that was destroyed earlier emits no events.
    if (source.destroyed) onBroken();
  });
}

const REMEDY =
  'Mount the handler before the body parser, or let that keep the bytes as request.rawBody (docs/frameworks.md)';

/**
 * The bodies that were kept of a request whose stream something else has read: those of the length that the wire had
 * and, if the body was compressed, what it was inflated to. Any other is only a part, such as a placeholder that was
 * never filled, or text whose bytes were lost.
 */
function takeKeptBodies(
  keepers: readonly object[],
  headers: IncomingHttpHeaders,
  hasEnded: boolean,
): readonly RawBody[] {
  const length = lengthOf(headers);
  const isCompressed = findContentEncoding(headers) !== undefined;
  const isWhole = (body: RawBody): boolean =>
    length === undefined ? hasEnded && sizeOf(body) > 0 : sizeOf(body) === length;

  const kept = listRawBodies(keepers);
  // Not earlier: on some platforms `body` is a getter that parses.
  if (isCompressed || !kept.some(isWhole)) {
    kept.push(...keepers.map(bodyOf).filter(isUint8Array));
  }
  if (kept.length === 0) {
    const body = keepers.map(bodyOf).find((one) => one !== undefined);
    throw bodyWasRead(REMEDY, body === undefined ? body : `request.body is ${describeValue(body)}`);
  }
  const whole = kept.filter(isWhole);
  if (isCompressed && hasEnded) {
    const inflated = kept.filter((body) => !isWhole(body) && sizeOf(body) > 0);
    whole.push(...inflated);
  }
  if (whole.length > 0) return whole;
  const isEmpty = length === undefined && hasEnded && !keepers.map(bodyOf).some(hasContent);
  if (isEmpty) return [''];
  throw keptInPart(Math.max(...kept.map(sizeOf)), length);
}

/** What is kept as `rawBody`. */
function listRawBodies(keepers: readonly object[]): RawBody[] {
  return keepers
    .map((keeper) => (keeper as { readonly rawBody?: unknown }).rawBody)
    .filter((body) => typeof body === 'string' || isUint8Array(body));
}

const bodyOf = (keeper: object): unknown => (keeper as { readonly body?: unknown }).body;

/** The Content-Length; undefined for a body in chunks. */
function lengthOf(headers: IncomingHttpHeaders): number | undefined {
  const length = headers['content-length'];
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

const sizeOf = (body: RawBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;

/** Whether a parsed body shows that there were bytes. */
function hasContent(body: unknown): boolean {
  if (typeof body === 'object' && body !== null) return Object.keys(body).length > 0;
  return body !== undefined && body !== null && body !== '';
}

function keptInPart(size: number, length: number | undefined): CallbackVerificationError {
  const whole = length === undefined ? 'a body whose end it did not await' : `a body of ${length}`;
  return new CallbackVerificationError(
    'RAW_BODY_REQUIRED',
    `A middleware before the callback handler kept ${size} bytes of ${whole}. Let it keep all, joined and not decoded, or mount it later (docs/frameworks.md)`,
  );
}

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
  if (request.complete) return;
  response.shouldKeepAlive = false;
  // Its `close` ends with code 0: the answer is complete.
  const { stream } = response as { stream?: Pick<ServerHttp2Stream, 'once' | 'close'> };
  // After the turn in which the answer is sent: Node 22.23 and 26 would drop it with the stream.
  stream?.once('finish', () => setImmediate(() => stream.close()));
}
