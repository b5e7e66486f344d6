import { MockServerError } from '../../errors.js';
import type { CheckedRequestFault } from '../faults/fault-rules.js';
import type { MockClock, MockTimer } from '../state/clock.js';
import {
  errorAnswer,
  INVALID_CREDENTIALS,
  jsonAnswer,
  type PlainAnswer,
  type PlainRequest,
  textAnswer,
} from './http-messages.js';

/**
 * A broken connection, as `fetch` shows it: the promise rejects with it, or the answer's body ends in it.
 * The HTTP server breaks the real connection.
 */
export class ConnectionLoss extends MockServerError {
  /** `reset`: by a TCP reset. `end`: closed in order, but too early. */
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end', message: string) {
    super('CONNECTION_LOST', message);
    this.how = how;
  }
}

/** Requests that a fault holds: `delay` for a while, `hang` forever. */
export class WaitingRequests {
  readonly #clock: MockClock;
  readonly #cutOff = new Set<(reason: Error) => void>();

  constructor(clock: MockClock) {
    this.#clock = clock;
  }

  /**
   * Settles after `delayMs` on the service's clock.
   *
   * @throws {ConnectionLoss} when the client leaves, or the service is reset or closed
   */
  delay(signal: AbortSignal, delayMs: number): Promise<void> {
    return this.#wait(signal, (arrive) => this.#clock.setTimeout(arrive, delayMs));
  }

  /**
   * Never answers.
   *
   * @throws {ConnectionLoss} when the client leaves, or the service is reset or closed
   */
  hang(signal: AbortSignal): Promise<never> {
    return this.#wait<never>(signal, () => undefined);
  }

  /** Breaks the connection of every request that waits. */
  cutOff(reason: string): void {
    for (const fail of this.#cutOff) fail(new ConnectionLoss('reset', reason));
  }

  #wait<Result>(
    signal: AbortSignal,
    start: (arrive: (result: Result) => void) => MockTimer | undefined,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const end = () => {
        timer?.cancel();
        signal.removeEventListener('abort', leave);
        this.#cutOff.delete(fail);
      };
      const fail = (reason: Error) => {
        end();
        reject(reason);
      };
      const leave = () => fail(new ConnectionLoss('reset', 'The client left'));
      const timer = start((result) => {
        end();
        resolve(result);
      });
      this.#cutOff.add(fail);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
    });
  }
}

interface FaultyRequest {
  readonly requestId: string;
  readonly request: Pick<PlainRequest, 'signal'>;
  readonly waiting: WaitingRequests;
  /** Handles the request, and creates what it asks for. */
  readonly answer: () => PlainAnswer;
}

const HTML_PAGE = `<!doctype html>
<html><head><title>502 Bad Gateway</title></head>
<body><center><h1>502 Bad Gateway</h1></center></body></html>
`;

/** Answers a request as its fault says. */
export async function answerWithFault(
  fault: CheckedRequestFault | undefined,
  { requestId, request, waiting, answer }: FaultyRequest,
): Promise<PlainAnswer> {
  switch (fault?.type) {
    case undefined:
      return answer();
    case 'delay':
      await waiting.delay(request.signal, fault.delayMs);
      return answer();
    case 'late-answer': {
      const late = answer();
      await waiting.delay(request.signal, fault.delayMs);
      return late;
    }
    case 'hang':
      return waiting.hang(request.signal);
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
    case 'client-error':
      return refusal(requestId, fault);
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

function refusal(
  requestId: string,
  { status, body }: Extract<CheckedRequestFault, { type: 'client-error' }>,
): PlainAnswer {
  if (typeof body === 'string') {
    return textAnswer(status, body, { 'content-type': 'text/plain; charset=utf-8' });
  }
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return jsonAnswer(status, isObject ? { requestId, ...body } : body);
}

function damageJson({ status, headers, body }: PlainAnswer): PlainAnswer {
  return textAnswer(status, toBytes(body).toString().slice(0, -1), headers);
}

function emptyBody({ status, headers }: PlainAnswer): PlainAnswer {
  return textAnswer(status, '', headers);
}

/** No answer is a stream before a fault is applied. */
const toBytes = (body: PlainAnswer['body']): Buffer => Buffer.from(body as string | Uint8Array);

// Keeps the content-length of the whole body, so that the client can tell that a part is missing.
function cutBody(answer: PlainAnswer, how: 'reset' | 'end'): PlainAnswer {
  const bytes = toBytes(answer.body);
  const half = bytes.subarray(0, Math.ceil(bytes.byteLength / 2));
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    // One chunk per pull: an error raised before the first chunk is read would replace it.
    pull(controller) {
      if (isSent) controller.error(new ConnectionLoss(how, 'The body was cut off by a fault'));
      else controller.enqueue(half);
      isSent = true;
    },
  });
  return { ...answer, body };
}
