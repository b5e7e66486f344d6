import type { CheckedRequestFault } from '../faults/fault-rules.js';
import { errorAnswer, INVALID_CREDENTIALS, textAnswer } from './http-messages.js';
import { ConnectionLoss, type WaitingRequests } from './waiting-requests.js';

interface FaultyRequest {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly waiting: WaitingRequests;
  /** Handles the request: what it creates, it creates when this is called. */
  readonly answer: () => Response;
}

const HTML_PAGE = `<!doctype html>
<html><head><title>502 Bad Gateway</title></head>
<body><center><h1>502 Bad Gateway</h1></center></body></html>
`;

/** Answers a request the way its fault says; without one in the usual way. */
export async function answerWithFault(
  fault: CheckedRequestFault | undefined,
  { requestId, signal, waiting, answer }: FaultyRequest,
): Promise<Response> {
  switch (fault?.type) {
    case undefined:
      return answer();
    case 'delay':
      await waiting.delay(signal, fault.delayMs);
      return answer();
    case 'hang':
      return waiting.hang(signal);
    case 'reset-before-headers':
      throw new ConnectionLoss('reset', 'The connection was reset by a fault');
    case 'lost-answer':
      answer();
      throw new ConnectionLoss('reset', 'The answer was lost by a fault');
    case 'malformed-json':
      return damageJson(answer());
    case 'empty-body':
      return emptyBody(answer());
    case 'truncated-body':
      return cutBody(answer(), 'end');
    case 'reset-in-body':
      return cutBody(answer(), 'reset');
    case 'unauthorized':
      return errorAnswer(requestId, INVALID_CREDENTIALS);
    case 'rate-limit':
      return errorAnswer(requestId, {
        status: 429,
        code: 'RATE_LIMITED',
        message: 'Too many requests.',
        headers: { 'retry-after': String(fault.retryAfterSeconds) },
      });
    case 'server-error':
      return errorAnswer(requestId, {
        status: fault.status,
        code: 'SERVER_ERROR',
        message: 'The service could not handle the request.',
      });
    case 'html-error':
      return textAnswer(502, HTML_PAGE, { 'content-type': 'text/html; charset=utf-8' });
  }
}

async function damageJson(answer: Response): Promise<Response> {
  const text = await answer.text();
  return textAnswer(answer.status, text.slice(0, -1), Object.fromEntries(answer.headers));
}

function emptyBody(answer: Response): Response {
  const headers = new Headers(answer.headers);
  headers.set('content-length', '0');
  return new Response(null, { status: answer.status, headers });
}

// The content-length stays that of the whole body, so that the client can tell that some is missing.
async function cutBody(answer: Response, how: 'reset' | 'end'): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const half = bytes.subarray(0, Math.ceil(bytes.byteLength / 2));
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    // One chunk per pull: an error raised before the first was taken would take its place.
    pull(controller) {
      if (isSent) controller.error(new ConnectionLoss(how, 'The body was cut off by a fault'));
      else controller.enqueue(half);
      isSent = true;
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
