import type { CallbackHeaders } from '../../../src/callback/headers.js';
import type { CallbackRequest } from '../../../src/callback/options.js';
import type { Delivery, HeaderPair, HeaderShape } from './deliveries.js';
import type { OracleCase } from './oracle.js';

/** A delivery as the package gets it, and the same as the oracle does. */
export interface ReceivedDelivery {
  readonly request: CallbackRequest;
  readonly forOracle: OracleCase;
}

export function toRequest({ profile, headers, body, shape, bodyKind }: Delivery): ReceivedDelivery {
  const shaped = shapeHeaders(headers, shape);
  // Text that has no bytes stays text.
  const isText = typeof body === 'string' && (bodyKind === 'text' || !body.isWellFormed());
  const rawBody = isText ? body : toBodyKind(Buffer.from(body as string), bodyKind);
  return {
    request: { headers: shaped.headers, rawBody },
    forOracle: {
      profile,
      headers: shaped.pairs,
      body: typeof rawBody === 'string' ? rawBody : Buffer.from(body as string),
    },
  };
}

interface ShapedHeaders {
  readonly headers: CallbackHeaders;
  /** What is in it, one pair for each value. */
  readonly pairs: readonly HeaderPair[];
}

function shapeHeaders(pairs: readonly HeaderPair[], shape: HeaderShape): ShapedHeaders {
  switch (shape) {
    case 'Headers':
      return shapeFetchHeaders(pairs);
    case 'Map': {
      // A Map has one value to a name, as most who build one from headers find out.
      const map = new Map(pairs);
      return { headers: map, pairs: [...map] };
    }
    case 'pairs':
      return { headers: pairs, pairs };
    case 'lists':
    case 'record':
      return { headers: shapeRecord(pairs, shape), pairs };
  }
}

/** It trims and joins, and takes no name or value that is not HTTP: then the pairs go by themselves. */
function shapeFetchHeaders(pairs: readonly HeaderPair[]): ShapedHeaders {
  try {
    const headers = new Headers(pairs.map(([name, value]) => [name, value]));
    return { headers, pairs: [...headers] };
  } catch {
    return { headers: pairs, pairs };
  }
}

function shapeRecord(
  pairs: readonly HeaderPair[],
  shape: 'lists' | 'record',
): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const earlier = record[name];
    if (earlier === undefined) record[name] = shape === 'lists' ? [value] : value;
    else record[name] = [earlier, value].flat();
  }
  return record;
}

function toBodyKind(
  body: Uint8Array,
  kind: Delivery['bodyKind'],
): string | Uint8Array | ArrayBuffer {
  switch (kind) {
    case 'buffer':
      return body;
    case 'text':
      // What a framework makes of bytes that are no text: the signature is of something else then.
      return Buffer.from(body).toString();
    case 'ArrayBuffer':
      return Uint8Array.from(body).buffer;
    case 'part of a buffer': {
      const larger = new Uint8Array(body.length + 7).fill(0x7b);
      larger.set(body, 3);
      return larger.subarray(3, 3 + body.length);
    }
  }
}
