import { type BodyLimits, bodyWasRead, UnreadableBody } from './body.js';

const REMEDY =
  'Pass the request on before anything reads it: Hono: callbackHandler(c.req.raw) without c.req.json() or a body validator before it; ' +
  'Next.js app routes, SvelteKit, Workers: do not call request.json() or request.text() first';

/**
 * The body of a Fetch request as it was received, counted as it arrives. Beyond the limit nothing
 * more is read.
 *
 * @throws {UnreadableBody} when it broke off, took too long or is too large
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when somebody else has read it
 */
export async function readWebBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { body } = request;
  if (request.bodyUsed || body?.locked) throw bodyWasRead(REMEDY);
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new UnreadableBody(408)), limits.bodyTimeoutMs);
  });
  try {
    return await Promise.race([collect(reader, limits.maxBodyBytes), timeout]);
  } catch (error) {
    cancelAfterReply(reader);
    throw error instanceof UnreadableBody ? error : new UnreadableBody(400);
  } finally {
    clearTimeout(timer);
  }
}

interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

async function collect(reader: Reader, maxBodyBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return join(chunks, size);
    size += value.length;
    if (size > maxBodyBytes) throw new UnreadableBody(413);
    chunks.push(value);
  }
}

// Some servers (SvelteKit's for Node) end the connection at once when a body is cancelled, and with
// it the reply.
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
