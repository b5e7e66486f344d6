import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConnectionLoss } from './waiting-requests.js';

/**
 * Turns what Node received into a Request whose signal ends with the connection; `undefined` for what
 * a Request can't express: the method TRACE, a target that is not a URL.
 */
export function createRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  baseUrl: string,
): Request | undefined {
  const left = createLeaveSignal(incoming, outgoing);
  const method = incoming.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    return new Request(new URL(incoming.url ?? '/', baseUrl), {
      method,
      headers: createHeaders(incoming.rawHeaders),
      signal: left,
      ...(hasBody && { body: createBody(incoming), duplex: 'half' }),
    });
  } catch {
    return undefined;
  }
}

// The response to a pipelined request is not closed with the connection before its turn, so the
// connection itself is observed too.
function createLeaveSignal({ socket }: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = () => {
    socket.off('close', leave);
    if (!outgoing.writableFinished) left.abort();
  };
  // One for each pipelined request: not a leak to warn of.
  socket.setMaxListeners(0);
  socket.once('close', leave);
  outgoing.once('close', leave);
  return left.signal;
}

/** Reads the rest of a body that was not used, and drops it. */
export function dropBody(request: Request): void {
  if (!request.bodyUsed) void request.body?.cancel();
}

function createHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  return headers;
}

// Node's own conversion destroys the connection when the reader stops early, and a client that sends
// too much would never see its 413. Here the rest is read and dropped.
function createBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isWanted = true;
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Buffer) => {
        if (isWanted) controller.enqueue(new Uint8Array(chunk));
      });
      incoming.once('end', () => {
        if (isWanted) controller.close();
      });
      incoming.once('error', (error) => {
        if (isWanted) controller.error(error);
      });
    },
    cancel() {
      isWanted = false;
    },
  });
}

/** @throws the error that the answer's body ends in */
export async function sendAnswer(answer: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    await write(part.value, outgoing);
  }
  outgoing.end();
}

/** Breaks the connection in the way the error says; a reset unless it says otherwise. */
export async function sendFailure(error: unknown, outgoing: ServerResponse): Promise<void> {
  const { socket } = outgoing;
  if (error instanceof ConnectionLoss && error.how === 'end') {
    socket?.destroySoon();
    return;
  }
  if (outgoing.headersSent) await giveHeadStart(outgoing);
  socket?.resetAndDestroy();
}

/** Milliseconds of real time. */
const HEAD_START_MS = 20;

// A client that finds the last bytes and the reset at the same time takes both for an orderly end
// (libuv does), so the bytes go first. The immediate lets a busy client in this process read them.
function giveHeadStart(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), HEAD_START_MS);
    outgoing.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// Resolves when the bytes have left the process: a reset may follow, which would drop them.
function write(bytes: Uint8Array, outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
