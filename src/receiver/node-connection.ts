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

/** What was not read of a body would be taken for the next request on the connection. */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete) response.shouldKeepAlive = false;
}
