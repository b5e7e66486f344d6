import { errorAnswer, INVALID_CREDENTIALS, textAnswer } from '../api/answers.js';
import { ConnectionLossError } from '../api/connection-loss.js';
import type { WaitingRequests } from '../api/waiting-requests.js';
import type { RequestFault, ServerErrorFault } from './fault-types.js';

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
  fault: RequestFault | undefined,
  request: FaultyRequest,
): Promise<Response> {
  if (fault === undefined) return request.answer();
  switch (fault.type) {
    case 'delay':
      await request.waiting.delay(request.signal, fault.delayMs);
      return request.answer();
    case 'hang':
      return request.waiting.hang(request.signal);
    case 'reset-before-headers':
      throw new ConnectionLossError('reset', 'The connection was reset by a fault');
    case 'lost-answer':
      request.answer();
      throw new ConnectionLossError('reset', 'The answer was lost by a fault');
    case 'malformed-json':
      return damageJson(request.answer());
    case 'empty-body':
      return emptyBody(request.answer());
    case 'truncated-body':
      return cutBody(request.answer(), 'end');
    case 'reset-in-body':
      return cutBody(request.answer(), 'reset');
    default:
      return refuse(fault, request.requestId);
  }
}

type RefusingFault = Extract<
  RequestFault,
  { type: 'unauthorized' | 'rate-limit' | 'server-error' | 'html-error' }
>;

function refuse(fault: RefusingFault, requestId: string): Response {
  switch (fault.type) {
    case 'unauthorized':
      return errorAnswer(requestId, INVALID_CREDENTIALS);
    case 'rate-limit':
      return errorAnswer(requestId, {
        status: 429,
        code: 'RATE_LIMITED',
        message: 'Too many requests.',
        headers: { 'retry-after': String(fault.retryAfterSeconds ?? 1) },
      });
    case 'server-error':
      return serverError(fault, requestId);
    case 'html-error':
      return textAnswer(502, HTML_PAGE, { 'content-type': 'text/html; charset=utf-8' });
  }
}

function serverError({ status = 500 }: ServerErrorFault, requestId: string): Response {
  return errorAnswer(requestId, {
    status,
    code: 'SERVER_ERROR',
    message: 'The service could not handle the request.',
  });
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
      if (isSent) controller.error(new ConnectionLossError(how, 'The body was cut off by a fault'));
      else controller.enqueue(half);
      isSent = true;
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
