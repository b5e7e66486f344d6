import { isUint8Array, type RawBody } from '../callback/body.js';
import { findContentEncoding } from '../callback/headers.js';
import { CallbackVerificationError } from '../errors.js';
import { bodyWasRead } from './body.js';

/** Where frameworks keep a body that they have read. */
interface KeptBody {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** A request's headers, as node:http gives them. */
type NodeHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export const REMEDY =
  "Express: mount callbackHandler before express.json(), or put express.raw({ type: 'application/json' }) on this route; " +
  'NestJS: NestFactory.create(AppModule, { rawBody: true }); Koa: route to it before a body parser; ' +
  'Next.js pages: export const config = { api: { bodyParser: false } }; ' +
  'Fastify: let no preParsing hook read the payload of this route';

/**
 * Returns the bodies that were kept of a request whose stream something else has read: those of the length that
 * came over the wire and, if the body was compressed, what it was inflated to. Any other is only a part: a
 * placeholder that was never filled, or text whose bytes were lost.
 *
 * @param hasEnded whether the stream was read to its end
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when none is whole
 */
export function takeKeptBodies(
  keepers: readonly object[],
  headers: NodeHeaders,
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
  if (kept.length === 0) throw bodyWasRead(REMEDY);
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
export function listRawBodies(keepers: readonly object[]): RawBody[] {
  return keepers
    .map((keeper) => (keeper as KeptBody).rawBody)
    .filter((body) => typeof body === 'string' || isUint8Array(body));
}

const bodyOf = (keeper: object): unknown => (keeper as KeptBody).body;

/** The Content-Length; undefined for a body in chunks. */
export function lengthOf(headers: NodeHeaders | undefined): number | undefined {
  const length = headers?.['content-length'];
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

export const sizeOf = (body: RawBody): number =>
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
    `A middleware before the callback handler keeps the body, as rawBody or body of the request, but kept ${size} bytes of ${whole}, so the callback was not verified. Let it keep all bytes, joined and not decoded, before it calls next(). ${REMEDY}`,
  );
}
