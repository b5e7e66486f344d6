import { isUtf8 } from 'node:buffer';
import { describeIssues } from '../../errors.js';
import { type CreatePaymentInput, findCreatePaymentIssues } from '../../protocol/payment.js';
import { PAYMENTS_PATH } from '../../protocol/wire.js';
import type { MockClock } from '../clock/clock.js';
import type { EventLog } from '../event-log.js';
import type { EventFeed } from '../events.js';
import type { FaultList } from '../faults/fault-list.js';
import type { RequestFaultType } from '../faults/fault-types.js';
import { answerWithFault } from '../faults/request-faults.js';
import { toStatusRecord } from '../payment.js';
import type { PaymentBook } from '../payment-book.js';
import type { SeededIds } from '../seeded-ids.js';
import {
  errorAnswer,
  INVALID_CREDENTIALS,
  invalidRequest,
  jsonAnswer,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
} from './answers.js';
import { type ExpectedCredentials, isAuthorized } from './credentials.js';
import { type RecordedRequest, redactHeaders, toRequestFacts } from './recorded-request.js';
import { type RequestBody, readRequestBody } from './request-body.js';
import type { WaitingRequests } from './waiting-requests.js';

const MAX_BODY_BYTES = 1_048_576;

/** The service's API as a function. The HTTP server and the msw handlers are shells around it. */
export interface Gateway {
  /**
   * Answers a request (interface section 4.1). What breaks on the network breaks as with `fetch`:
   * the promise rejects, or the answer's body ends in an error.
   */
  fetch(request: Request): Promise<Response>;
}

interface GatewayOptions {
  readonly clock: MockClock;
  readonly credentials: ExpectedCredentials;
  readonly faults: FaultList;
  readonly feed: EventFeed;
  readonly ids: SeededIds;
  readonly log: EventLog<RecordedRequest>;
  readonly payments: PaymentBook;
  readonly waiting: WaitingRequests;
}

interface LiveRequest extends RecordedRequest {
  fault?: RequestFaultType;
  status?: number;
  ended: boolean;
}

export function createGateway(options: GatewayOptions): Gateway {
  const { clock, credentials, faults, feed, ids, log, payments, waiting } = options;

  return {
    async fetch(request) {
      const body = await readRequestBody(request, MAX_BODY_BYTES);
      const { generation } = log;
      const recorded = record(request, body);
      log.push(recorded);
      const fault = faults.takeForRequest(toRequestFacts(recorded));
      if (fault !== undefined) recorded.fault = fault.type;
      feed.emit({ type: 'request', request: recorded });
      try {
        const answer = await answerWithFault(fault, {
          requestId: recorded.requestId,
          signal: request.signal,
          waiting,
          answer: () => route(recorded, body),
        });
        recorded.status = answer.status;
        return answer;
      } finally {
        recorded.ended = true;
        // After a reset nobody knows it any more, and its identifier is drawn again.
        if (generation === log.generation) feed.emit({ type: 'request', request: recorded });
      }
    },
  };

  function record(request: Request, body: RequestBody): LiveRequest {
    const { pathname, search } = new URL(request.url);
    const text = body.tooLarge ? '' : new TextDecoder().decode(body.bytes);
    return {
      requestId: ids.next('requestId'),
      at: new Date(clock.now()),
      method: request.method,
      path: `${pathname}${search}`,
      headers: redactHeaders(request.headers),
      body: text,
      json: parseJson(text),
      authenticated: isAuthorized(request.headers.get('authorization'), credentials),
      ended: false,
    };
  }

  // Credentials come first: a stranger learns nothing about paths (interface section 5.1).
  function route(recorded: RecordedRequest, body: RequestBody): Response {
    const { requestId, authenticated, method, path, headers } = recorded;
    if (!authenticated) return errorAnswer(requestId, INVALID_CREDENTIALS);
    if (path.split('?', 1)[0] !== PAYMENTS_PATH) return errorAnswer(requestId, NOT_FOUND);
    if (method !== 'POST') return errorAnswer(requestId, METHOD_NOT_ALLOWED);
    if (!isJsonType(headers['content-type'])) return errorAnswer(requestId, UNSUPPORTED_MEDIA_TYPE);
    if (body.tooLarge) return errorAnswer(requestId, PAYLOAD_TOO_LARGE);
    return createPayment(recorded, body.bytes);
  }

  function createPayment({ requestId, json }: RecordedRequest, bytes: Uint8Array): Response {
    if (json === undefined || !isUtf8(bytes)) {
      return errorAnswer(requestId, invalidRequest('The body must be JSON in UTF-8.'));
    }
    const issues = findCreatePaymentIssues(json);
    if (issues !== undefined) return errorAnswer(requestId, invalidRequest(describeIssues(issues)));
    const payment = payments.create(json as CreatePaymentInput & Record<string, unknown>);
    return jsonAnswer(201, toStatusRecord(payment));
  }
}

function isJsonType(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
