import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import { describeIssues } from '../../errors.js';
import { operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import type { FaultList } from '../faults/fault-list.js';
import type { MockClock } from '../state/clock.js';
import type { EventLog } from '../state/event-log.js';
import { type PaymentBook, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import {
  type ErrorAnswer,
  errorAnswer,
  INVALID_CREDENTIALS,
  invalidRequest,
  isJsonType,
  jsonAnswer,
  matchPath,
  methodNotAllowed,
  NOT_FOUND,
  PAYLOAD_TOO_LARGE,
  parseJson,
  readRequestBody,
  UNSUPPORTED_MEDIA_TYPE,
} from './http-messages.js';
import { type RecordedRequest, redactHeaders, toRequestFacts } from './recorded-request.js';
import { answerWithFault } from './request-faults.js';
import type { WaitingRequests } from './waiting-requests.js';

/** Answers an operation, given its input, which has been checked, and what stands for `:id` in its path. */
type Handler = (input: unknown, id: string) => Response;

/** What a request must present. An absent part accepts anything that is not empty. */
interface ExpectedCredentials {
  readonly apiKey: string | undefined;
  readonly apiSecret: string | undefined;
}

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
  readonly ids: SeededIds;
  readonly log: EventLog<RecordedRequest>;
  readonly payments: PaymentBook;
  readonly waiting: WaitingRequests;
  /** Called when a request has arrived, and again when it is over. */
  readonly onRequest: (request: RecordedRequest) => void;
}

interface LiveRequest extends RecordedRequest {
  fault?: RecordedRequest['fault'];
  status?: number;
  ended: boolean;
}

export function createGateway(options: GatewayOptions): Gateway {
  const { clock, credentials, faults, ids, log, payments, waiting, onRequest } = options;
  const handlers: Readonly<Record<OperationName, Handler>> = {
    createPayment: (input) => {
      const payment = payments.create(input as CreatePaymentInput & Record<string, unknown>);
      return jsonAnswer(201, toStatusRecord(payment));
    },
  };

  return {
    async fetch(request) {
      const body = await readRequestBody(request);
      const { generation } = log;
      const recorded = record(request, body);
      log.push(recorded);
      const fault = faults.takeForRequest(toRequestFacts(recorded));
      if (fault !== undefined) recorded.fault = fault.type;
      onRequest(recorded);
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
        // A reset has forgotten the request, and may have given its identifier to another one.
        if (generation === log.generation) onRequest(recorded);
      }
    },
  };

  function record(request: Request, body: Uint8Array | undefined): LiveRequest {
    const { pathname, search } = new URL(request.url);
    const text = body === undefined ? '' : new TextDecoder().decode(body);
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

  // Credentials first: without them a request learns nothing about paths (interface section 5.1).
  function route(recorded: RecordedRequest, body: Uint8Array | undefined): Response {
    const { requestId, authenticated, headers, json } = recorded;
    if (!authenticated) return errorAnswer(requestId, INVALID_CREDENTIALS);
    const found = findOperation(recorded);
    if ('code' in found) return errorAnswer(requestId, found);
    const handle = handlers[found.name];
    const { safe, findInputIssues } = operations[found.name];
    if (safe) return handle(undefined, found.id);
    if (!isJsonType(headers['content-type'])) return errorAnswer(requestId, UNSUPPORTED_MEDIA_TYPE);
    if (body === undefined) return errorAnswer(requestId, PAYLOAD_TOO_LARGE);
    if (json === undefined || !isUtf8(body)) {
      return errorAnswer(requestId, invalidRequest('The body must be JSON in UTF-8.'));
    }
    const issues = findInputIssues(json);
    if (issues !== undefined) return errorAnswer(requestId, invalidRequest(describeIssues(issues)));
    return handle(json, found.id);
  }
}

type OperationName = keyof typeof operations;

function findOperation(
  request: RecordedRequest,
): { name: OperationName; id: string } | ErrorAnswer {
  const path = request.path.split('?', 1)[0] ?? '';
  const allowed: string[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    const id = matchPath(operation.path, path);
    if (id === undefined) continue;
    if (request.method === operation.method) return { name: name as OperationName, id };
    allowed.push(operation.method);
  }
  return allowed.length === 0 ? NOT_FOUND : methodNotAllowed(allowed);
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Whether an Authorization header carries the account's credentials (interface section 5.1). */
function isAuthorized(header: string | null, expected: ExpectedCredentials): boolean {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return false;
  const decoded = Buffer.from(encoded, 'base64').toString();
  const colon = decoded.indexOf(':');
  // Without a colon the secret is empty, and refused.
  const key = isSame(decoded.slice(0, Math.max(colon, 0)), expected.apiKey);
  const secret = isSame(colon < 0 ? '' : decoded.slice(colon + 1), expected.apiSecret);
  return key && secret;
}

// Digests have one length, so the comparison takes the same time for every input.
function isSame(given: string, expected: string | undefined): boolean {
  if (given === '') return false;
  return expected === undefined || timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
