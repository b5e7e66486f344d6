import { isObject } from '../../protocol/own-fields.js';
import type { CheckedRequestFault } from '../faults/fault-list.js';
import type { ServiceClock } from '../state/clock.js';
import {
  ConnectionLoss,
  errorAnswer,
  jsonAnswer,
  type PlainAnswer,
  type PlainRequest,
  textAnswer,
  unauthorized,
} from './http-messages.js';

/** Requests that a fault holds: `delay` for a while, `hang` forever. */
export class WaitingRequests {
  readonly #clock: ServiceClock;
  readonly #held = new Set<(reason: string) => void>();

  constructor(clock: ServiceClock) {
    this.#clock = clock;
  }

  /**
   * Settles after `delayMs` on the service's clock; without it, never.
   *
   * @throws {ConnectionLoss} when the client leaves, or the service is reset or closed
   */
  wait(signal: AbortSignal, delayMs?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        cancelTimer?.();
        signal.removeEventListener('abort', leave);
        this.#held.delete(cutOff);
        settle();
      };
      const cutOff = (reason: string) => end(() => reject(new ConnectionLoss('reset', reason)))();
      const leave = () => cutOff('The client left');
      const cancelTimer =
        delayMs === undefined ? undefined : this.#clock.setTimeout(end(resolve), delayMs);
      this.#held.add(cutOff);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
    });
  }

  cutOff(reason: string): void {
    for (const cutOff of this.#held) cutOff(reason);
  }
}

interface FaultyRequest {
  readonly requestId: string;
  readonly request: PlainRequest;
  readonly waiting: WaitingRequests;
  /** Handles the request, and creates what it asks for. */
  readonly answer: () => PlainAnswer;
}

export async function answerWithFault(
  fault: CheckedRequestFault | undefined,
  { requestId, request, waiting, answer }: FaultyRequest,
): Promise<PlainAnswer> {
  switch (fault?.type) {
    case undefined:
      return answer();
    case 'delay':
      await waiting.wait(request.signal, fault.delayMs);
      return answer();
    case 'late-answer': {
      const late = answer();
      await waiting.wait(request.signal, fault.delayMs);
      return late;
    }
    case 'hang':
      await waiting.wait(request.signal);
      return answer();
    case 'reset-before-headers':
      throw new ConnectionLoss('reset', 'The connection was reset by a fault');
    case 'lost-answer':
      answer();
      throw new ConnectionLoss('reset', 'The answer was lost by a fault');
    case 'malformed-json':
      return withBody(answer(), (body) => body.slice(0, -1));
    case 'empty-body':
      return withBody(answer(), () => '');
    case 'truncated-body':
      return cutBody(answer(), 'end');
    case 'reset-in-body':
      return cutBody(answer(), 'reset');
    case 'unauthorized':
      return unauthorized(requestId);
    case 'rate-limit':
      return errorAnswer(requestId, 429, {
        code: 'RATE_LIMITED',
        message: 'Too many requests.',
        headers: { 'retry-after': String(fault.retryAfterSeconds) },
      });
    case 'client-error':
      return refusal(requestId, fault);
    case 'server-error': {
      const message = 'The service could not handle the request.';
      return errorAnswer(requestId, fault.status, { code: 'SERVER_ERROR', message });
    }
    case 'html-error':
      return proxyPage(fault.status);
  }
}

function refusal(
  requestId: string,
  { status, body }: Extract<CheckedRequestFault, { type: 'client-error' }>,
): PlainAnswer {
  if (typeof body === 'string') {
    return textAnswer(status, body, { 'content-type': 'text/plain; charset=utf-8' });
  }
  return jsonAnswer(status, isObject(body) ? { requestId, ...body } : body);
}

function proxyPage(status: number): PlainAnswer {
  const page = `<!doctype html>
<html><head><title>${status}</title></head>
<body><center><h1>${status}</h1><p>A page of a proxy, not of the service.</p></center></body></html>
`;
  const hasBody = ![204, 205, 304].includes(status);
  return textAnswer(status, hasBody ? page : '', { 'content-type': 'text/html; charset=utf-8' });
}

const withBody = (
  { status, headers, body }: PlainAnswer,
  change: (body: string) => string,
): PlainAnswer => textAnswer(status, change(body), headers);

// Keeps the content-length of the whole body, so that the client can tell that a part is missing.
function cutBody(answer: PlainAnswer, how: 'reset' | 'end'): PlainAnswer {
  const loss = new ConnectionLoss(how, 'The body was cut off by a fault');
  return { ...answer, body: answer.body.slice(0, Math.ceil(answer.body.length / 2)), loss };
}
