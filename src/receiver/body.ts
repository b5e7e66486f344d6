import { isUint8Array } from '../callback/body.js';
import { CallbackVerificationError } from '../errors.js';
import { within } from '../protocol/waiting.js';

/** Limits on a body that comes from outside. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
}

/** How long a body may take to arrive, in milliseconds. */
export const BODY_TIMEOUT_MS = 10_000;

/** The body could not be read: it broke off (400), took too long (408) or is too large (413). */
export class UnreadableBody extends CallbackVerificationError {
  readonly #status: 400 | 408 | 413;

  constructor(status: 400 | 408 | 413, { maxBodyBytes }: BodyLimits) {
    const why = {
      400: 'broke off before its end, so it was not verified; if this repeats, check the proxy in front of the endpoint',
      408: `did not arrive within ${BODY_TIMEOUT_MS} ms, so it was not verified; if this repeats, check the proxy in front of the endpoint`,
      413: `has more than ${maxBodyBytes} bytes (maxBodyBytes), so it was not verified; raise the limit if the service sends such callbacks`,
    };
    super(status === 413 ? 'BODY_TOO_LARGE' : 'BODY_INCOMPLETE', `The body ${why[status]}`);
    this.#status = status;
  }

  get status(): 400 | 408 | 413 {
    return this.#status;
  }
}

/** Returns the body, unless it is too large. */
export function assertBodySize<Body extends string | Uint8Array>(
  body: Body,
  limits: BodyLimits,
): Body {
  const size = typeof body === 'string' ? new TextEncoder().encode(body).length : body.byteLength;
  if (size > limits.maxBodyBytes) throw new UnreadableBody(413, limits);
  return body;
}

/** Refuses a body that is announced as too large, before it comes. */
export function assertAnnouncedSize(
  contentLength: string | null | undefined,
  limits: BodyLimits,
): void {
  // NaN for what is no number, which the count of the bytes then decides.
  if (Number(contentLength) > limits.maxBodyBytes) throw new UnreadableBody(413, limits);
}

/** @param seen what is left of it, such as `request.body is an object` */
export function bodyWasRead(remedy: string, seen?: string): CallbackVerificationError {
  const left = seen === undefined ? '' : ` (${seen})`;
  return new CallbackVerificationError(
    'RAW_BODY_REQUIRED',
    `The raw body was read or decoded before the callback handler${left}. ${remedy}`,
  );
}

const REMEDY =
  'Pass the request on before anything reads it, such as request.json(), c.req.json() or a body validator';

/** Reads the body of a Fetch request as received, and counts it as it arrives. Beyond the limit it reads no more. */
export async function readWebBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { body } = request;
  if (request.bodyUsed || body?.locked) throw bodyWasRead(REMEDY);
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  try {
    assertAnnouncedSize(request.headers.get('content-length'), limits);
    return await within(BODY_TIMEOUT_MS, collect(reader, limits), () => {
      throw new UnreadableBody(408, limits);
    });
  } catch (error) {
    cancelAfterReply(reader);
    throw error instanceof CallbackVerificationError ? error : new UnreadableBody(400, limits);
  }
}

interface Reader {
  read(): Promise<{ done: boolean; value?: unknown }>;
  cancel(): Promise<void>;
}

async function collect(reader: Reader, limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(chunks, size);
    const chunk = toBytes(value);
    size += chunk.length;
    if (size > limits.maxBodyBytes) throw new UnreadableBody(413, limits);
    chunks.push(chunk);
  }
}

/** A stream that middleware has put in place of the body may have chunks of any kind. */
function toBytes(chunk: unknown): Uint8Array {
  if (isUint8Array(chunk)) return chunk;
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw bodyWasRead(REMEDY);
}

// Some servers (SvelteKit's for Node) close the connection as soon as a body is cancelled, before the reply
// is sent.
function cancelAfterReply(reader: Reader): void {
  setTimeout(() => reader.cancel().catch(() => undefined));
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
