import { describeValue } from '../../protocol/describe-value.js';
import type { Answer, BodyFailure, ResponseHeaders } from './transport.js';

// What fetch answered may be a stub of a test, or made by a wrapper: any part can be missing, of
// another type, or throw. Once a status was received, none of that may hide it.

/** The status and the headers. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** @throws {Error} `NOT_A_RESPONSE` without a status: nothing is known of what the service answered then */
export function readHead(response: Response): AnswerHead {
  const status: unknown = readStatus(response);
  if (typeof status === 'number') return { status, headers: readHeaders(response) };
  throw Object.assign(new Error(`fetch returned ${describeValue(response)}, not a Response`), {
    code: 'NOT_A_RESPONSE',
  });
}

function readStatus(response: Response | null | undefined): unknown {
  try {
    return response?.status;
  } catch {
    return undefined;
  }
}

// What the client reads, for headers that can only be asked by name.
const READ_HEADERS = ['content-length', 'content-type', 'retry-after'];

function readHeaders(response: Response): ResponseHeaders {
  const record: Record<string, string | string[]> = {};
  try {
    const headers: Partial<Headers> = response.headers;
    if (headers.forEach !== undefined) {
      headers.forEach((value, name) => {
        record[name.toLowerCase()] = String(value);
      });
    } else {
      for (const name of READ_HEADERS) {
        const value = headers.get?.(name);
        if (typeof value === 'string') record[name] = value;
      }
    }
    // Missing in older implementations of fetch, which join the cookies by commas.
    const cookies = headers.getSetCookie?.();
    if (cookies !== undefined && cookies.length > 1) record['set-cookie'] = cookies;
  } catch {}
  return record;
}

type AnswerBody = Pick<Answer, 'body' | 'bodyFailure'>;

/** Reads a body up to `maxBytes`. One that can't be read is never taken for an empty one. */
export async function readBody(response: Response, maxBytes: number): Promise<AnswerBody> {
  try {
    const { body, bodyUsed }: Partial<Response> = response;
    if (bodyUsed === true || body?.locked === true) return failed({ reason: 'used' });
    if (body === null) return whole(new Uint8Array(0));
    const isStream = typeof body === 'object' && Symbol.asyncIterator in body;
    return isStream ? await readStream(body, maxBytes) : await readAtOnce(response, maxBytes);
  } catch (cause) {
    return failed({ reason: 'unreadable', cause });
  }
}

async function readStream(body: AsyncIterable<unknown>, maxBytes: number): Promise<AnswerBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      if (!ArrayBuffer.isView(chunk)) return failed({ reason: 'unreadable' });
      size += chunk.byteLength;
      if (size > maxBytes) return failed({ reason: 'too-large' });
      chunks.push(chunk as Uint8Array);
    }
  } catch (cause) {
    return failed({ reason: 'lost', cause });
  }
  return whole(Buffer.concat(chunks, size));
}

/** For a body that is no stream here: some implementations of fetch, and stubs, have only the methods. */
async function readAtOnce(response: Partial<Response>, maxBytes: number): Promise<AnswerBody> {
  let content: unknown;
  try {
    if (typeof response.arrayBuffer === 'function') content = await response.arrayBuffer();
    else if (typeof response.text === 'function') content = await response.text();
  } catch (cause) {
    return failed({ reason: 'lost', cause });
  }
  // Text or an ArrayBuffer; throws for anything else, such as nothing.
  const bytes = Buffer.from(content as string);
  return bytes.length > maxBytes ? failed({ reason: 'too-large' }) : whole(bytes);
}

function whole(body: Uint8Array): AnswerBody {
  return { body, bodyFailure: undefined };
}

function failed(bodyFailure: BodyFailure): AnswerBody {
  return { body: new Uint8Array(0), bodyFailure };
}
