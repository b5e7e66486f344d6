import type { IncomingMessage, ServerResponse } from 'node:http';

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
 * What was not read of a body would be taken for the next request on the connection. Over HTTP/2 its
 * stream alone is ended, which would otherwise stay open for as long as the client likes.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
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
