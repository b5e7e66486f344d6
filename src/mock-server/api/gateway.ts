import { isUtf8 } from 'node:buffer';
import { hash, timingSafeEqual } from 'node:crypto';
import { describeIssues } from '../../errors.js';
import { type Operation, type OperationName, operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import type { FaultList } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import type { EventLog } from '../state/cap.js';
import { type MockPayment, type PaymentBook, toStatusRecord } from '../state/payments.js';
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
  type PlainAnswer,
  type PlainRequest,
  parseJson,
  UNSUPPORTED_MEDIA_TYPE,
} from './http-messages.js';
import {
  type LiveRequest,
  type RecordedRequest,
  recordAnswer,
  redactHeaders,
  referenceIn,
  toRequestFacts,
  withoutQuery,
} from './recorded-request.js';
import { answerWithFault, type WaitingRequests } from './request-faults.js';

/** Answers an operation, given its checked input and the `:id` in its path. */
type Handler = (input: unknown, id: string, request: LiveRequest) => PlainAnswer;

/**
 * Answers a request (interface section 4.1). A broken connection appears as with `fetch`: the promise rejects, or the
 * answer's body ends in an error.
 */
export type Gateway = (request: PlainRequest) => Promise<PlainAnswer>;

interface GatewayOptions {
  readonly settings: ResolvedServiceOptions;
  readonly faults: FaultList;
  readonly ids: SeededIds;
  readonly log: EventLog<RecordedRequest>;
  readonly payments: PaymentBook;
  readonly waiting: WaitingRequests;
  /** Called when a request has arrived, and again when it is over. */
  readonly onRequest: (request: RecordedRequest) => void;
}

const decoder = new TextDecoder();

/** Makes the service's API a function, which the HTTP server and the msw handlers wrap. */
export function createGateway(options: GatewayOptions): Gateway {
  const { settings, faults, ids, log, payments, waiting, onRequest } = options;
  const { clock } = settings;
  const isAuthorized = createCredentialCheck(settings);
  const answerTemplate = JSON.stringify(settings.answerFields);
  const answerFields = ({ referenceNumber }: MockPayment): Record<string, unknown> | undefined =>
    answerTemplate === '{}'
      ? undefined
      : JSON.parse(answerTemplate.replaceAll('{referenceNumber}', referenceNumber));
  const handlers: Readonly<Record<OperationName, Handler>> = {
    'payments.create': (input, _id, request) => {
      const payment = payments.create(input as CreatePaymentInput & Record<string, unknown>);
      request.referenceNumber = payment.referenceNumber;
      return jsonAnswer(201, { ...toStatusRecord(payment), ...answerFields(payment) });
    },
  };

  return async (request) => {
    const body = await request.readBody();
    const { generation } = log;
    const recorded = record(request, body);
    log.push(recorded);
    const fault = faults.take('request', toRequestFacts(recorded));
    if (fault !== undefined) recorded.fault = fault.type;
    onRequest(recorded);
    const { requestId } = recorded;
    const answer = () => {
      const made = route(recorded, body);
      // Until it is sent.
      if (fault !== undefined) recorded.answer = recordAnswer(made, true);
      return made;
    };
    try {
      const context = { requestId, request, waiting, answer };
      const sent = await answerWithFault(fault, context);
      recorded.answer = recordAnswer(sent, false);
      recorded.status = sent.status;
      return sent;
    } finally {
      recorded.ended = true;
      // After a reset the request is forgotten, and another may have its identifier.
      if (generation === log.generation) {
        onRequest(recorded);
        // By now its payment is known.
        log.update(recorded);
      }
    }
  };

  function record(request: PlainRequest, body: Uint8Array | undefined): LiveRequest {
    const { method, pathname, search, headers } = request;
    const text = body === undefined ? '' : decoder.decode(body);
    const json = parseJson(text);
    return {
      requestId: ids.next('requestId'),
      at: new Date(clock.now()),
      method,
      path: `${pathname}${search}`,
      headers: redactHeaders(headers),
      body: text,
      json,
      merchantPaymentReference: referenceIn(json),
      authenticated: isAuthorized(headers.get('authorization')),
      ended: false,
    };
  }

  // Credentials first: without them a client learns nothing about paths (interface section 5.1).
  function route(recorded: LiveRequest, body: Uint8Array | undefined): PlainAnswer {
    const { requestId, authenticated, json } = recorded;
    if (!authenticated) return errorAnswer(requestId, INVALID_CREDENTIALS);
    const found = findOperation(recorded);
    if (found.refusal !== undefined) return errorAnswer(requestId, found.refusal);
    const handle = handlers[found.name];
    const { safe, findInputIssues } = operations[found.name];
    if (safe) return handle(undefined, found.id, recorded);
    return findRefusal(recorded, body, findInputIssues) ?? handle(json, found.id, recorded);
  }

  function findRefusal(
    recorded: LiveRequest,
    body: Uint8Array | undefined,
    findInputIssues: Operation['findInputIssues'],
  ): PlainAnswer | undefined {
    const { requestId, headers, json } = recorded;
    if (!isJsonType(headers['content-type'])) return errorAnswer(requestId, UNSUPPORTED_MEDIA_TYPE);
    if (body === undefined) return errorAnswer(requestId, PAYLOAD_TOO_LARGE);
    if (json === undefined || !isUtf8(body)) {
      return errorAnswer(
        requestId,
        invalidRequest('The body must be JSON in UTF-8, of at most 500 levels.'),
      );
    }
    const issues = findInputIssues(json);
    return issues && errorAnswer(requestId, invalidRequest(describeIssues(issues)));
  }
}

const OPERATIONS = Object.entries(operations) as [OperationName, Operation][];

function findOperation(
  request: RecordedRequest,
): { name: OperationName; id: string; refusal: undefined } | { refusal: ErrorAnswer } {
  const path = withoutQuery(request.path);
  const allowed: string[] = [];
  for (const [name, operation] of OPERATIONS) {
    const id = matchPath(operation.path, path);
    if (id === undefined) continue;
    if (request.method === operation.method) return { name, id, refusal: undefined };
    allowed.push(operation.method);
  }
  return { refusal: allowed.length === 0 ? NOT_FOUND : methodNotAllowed(allowed) };
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Creates the check of an Authorization header for the account's credentials (interface section 5.1). */
function createCredentialCheck({ apiKey, apiSecret }: ResolvedServiceOptions) {
  const expectedKey = apiKey === undefined ? undefined : digest(apiKey);
  const expectedSecret = apiSecret === undefined ? undefined : digest(apiSecret);
  return (header: string | undefined): boolean => {
    const encoded = BASIC.exec(header ?? '')?.[1];
    if (encoded === undefined) return false;
    const decoded = Buffer.from(encoded, 'base64').toString();
    const colon = decoded.indexOf(':');
    // Without a colon the secret is empty, and refused.
    const key = isSame(decoded.slice(0, Math.max(colon, 0)), expectedKey);
    const secret = isSame(colon < 0 ? '' : decoded.slice(colon + 1), expectedSecret);
    return key && secret;
  };
}

// An absent part accepts anything that is not empty. Digests have one length, so the comparison takes the same time for
// every input.
function isSame(given: string, expected: Buffer | undefined): boolean {
  if (given === '') return false;
  return expected === undefined || timingSafeEqual(digest(given), expected);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
