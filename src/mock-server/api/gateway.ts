import { isUtf8 } from 'node:buffer';
import { describeIssues } from '../../errors.js';
import { type Operation, type OperationName, operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import { invalidCaseOf, type ServiceProfile } from '../../protocol/service-profile.js';
import type { FaultList } from '../faults/fault-list.js';
import type { MockClock } from '../state/clock.js';
import type { EventLog } from '../state/event-log.js';
import { type MockPayment, type PaymentBook, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import { createCredentialCheck, type ExpectedCredentials } from './credentials.js';
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
import { ProfiledAnswers } from './profiled-answers.js';
import {
  type RecordedRequest,
  redactHeaders,
  toRequestFacts,
  withoutQuery,
} from './recorded-request.js';
import { answerWithFault, type WaitingRequests } from './request-faults.js';

/** Answers an operation, given its checked input and the `:id` in its path. */
type Handler = (input: unknown, id: string, request: RecordedRequest) => PlainAnswer;

/** The service's API as a function, which the HTTP server and the msw handlers wrap. */
export interface Gateway {
  /**
   * Answers a request (interface section 4.1). A broken connection appears as with `fetch`: the promise
   * rejects, or the answer's body ends in an error.
   */
  answer(request: PlainRequest): Promise<PlainAnswer>;
}

interface GatewayOptions {
  /** Further fields of the answer to a creation. */
  readonly answerFields: Readonly<Record<string, unknown>>;
  readonly clock: MockClock;
  readonly credentials: ExpectedCredentials;
  readonly faults: FaultList;
  readonly ids: SeededIds;
  readonly log: EventLog<RecordedRequest>;
  readonly payments: PaymentBook;
  readonly profile: ServiceProfile | undefined;
  readonly waiting: WaitingRequests;
  /** Called when a request has arrived, and again when it is over. */
  readonly onRequest: (request: RecordedRequest) => void;
}

interface LiveRequest extends RecordedRequest {
  fault?: RecordedRequest['fault'];
  status?: number;
  ended: boolean;
}

const decoder = new TextDecoder();

export function createGateway(options: GatewayOptions): Gateway {
  const { clock, faults, ids, log, payments, waiting, onRequest, profile } = options;
  const isAuthorized = createCredentialCheck(options.credentials);
  const profiled = profile && new ProfiledAnswers({ profile, ids, payments });
  const answerTemplate = JSON.stringify(options.answerFields);
  const answerFields = ({ referenceNumber }: MockPayment): Record<string, unknown> | undefined =>
    answerTemplate === '{}'
      ? undefined
      : JSON.parse(answerTemplate.replaceAll('{referenceNumber}', referenceNumber));
  const handlers: Readonly<Record<OperationName, Handler>> = {
    'payments.create': (input, _id, request) => {
      const creation = input as CreatePaymentInput & Record<string, unknown>;
      if (profiled !== undefined) return profiled.toCreation(creation, request, answerFields);
      const payment = payments.create(creation);
      return jsonAnswer(201, { ...toStatusRecord(payment), ...answerFields(payment) });
    },
  };

  return {
    async answer(request) {
      const body = await request.readBody();
      const { generation } = log;
      const recorded = record(request, body);
      log.push(recorded);
      const fault = faults.takeForRequest(toRequestFacts(recorded));
      if (fault !== undefined) recorded.fault = fault.type;
      onRequest(recorded);
      try {
        const answer =
          fault === undefined
            ? route(recorded, body)
            : await answerWithFault(fault, {
                requestId: recorded.requestId,
                request,
                waiting,
                answer: () => route(recorded, body),
              });
        recorded.status = answer.status;
        return answer;
      } finally {
        recorded.ended = true;
        // After a reset the request is forgotten, and another may have its identifier.
        if (generation === log.generation) onRequest(recorded);
      }
    },
  };

  function record(request: PlainRequest, body: Uint8Array | undefined): LiveRequest {
    const { method, pathname, search, headers } = request;
    const text = body === undefined ? '' : decoder.decode(body);
    return {
      requestId: ids.next('requestId'),
      at: new Date(clock.now()),
      method,
      path: `${pathname}${search}`,
      headers: redactHeaders(headers),
      body: text,
      json: parseJson(text),
      authenticated: isAuthorized(headers.get('authorization')),
      ended: false,
    };
  }

  // Credentials first: without them a client learns nothing about paths (interface section 5.1).
  function route(recorded: RecordedRequest, body: Uint8Array | undefined): PlainAnswer {
    const { requestId, authenticated, json } = recorded;
    if (!authenticated) return refuseCredentials(recorded);
    const found = findOperation(recorded);
    if (found.refusal !== undefined) return errorAnswer(requestId, found.refusal);
    const handle = handlers[found.name];
    const { safe, findInputIssues } = operations[found.name];
    if (safe) return handle(undefined, found.id, recorded);
    return findRefusal(recorded, body, findInputIssues) ?? handle(json, found.id, recorded);
  }

  function findRefusal(
    recorded: RecordedRequest,
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
    const refusal = profiled?.toInvalid(invalidCaseOf(json), recorded);
    if (refusal !== undefined) return refusal;
    const issues = findInputIssues(json);
    return issues && errorAnswer(requestId, invalidRequest(describeIssues(issues)));
  }

  function refuseCredentials(recorded: RecordedRequest): PlainAnswer {
    const isMissing = recorded.headers['authorization'] === undefined;
    const found = isMissing ? 'missingCredentials' : 'invalidCredentials';
    return (
      profiled?.toInvalid(found, recorded) ?? errorAnswer(recorded.requestId, INVALID_CREDENTIALS)
    );
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
