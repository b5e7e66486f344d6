import { isUtf8 } from 'node:buffer';
import { describeIssues } from '../../errors.js';
import { operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import type { FaultList } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import type { EventLog } from '../state/cap.js';
import { type PaymentBook, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import {
  errorAnswer,
  isJsonType,
  jsonAnswer,
  type PlainAnswer,
  type PlainRequest,
  parseJson,
  unauthorized,
  withoutQuery,
} from './http-messages.js';
import {
  type LiveRequest,
  type RecordedRequest,
  recordAnswer,
  redactHeaders,
  referenceIn,
  requestEntries,
} from './recorded-request.js';
import { answerWithFault, type WaitingRequests } from './request-faults.js';

/**
 * Answers a request (interface section 4.1). A broken connection appears as with `fetch`: the promise rejects, or the
 * answer's body ends in an error. With a prefix, below which the mock's own tools find the API, no credentials are asked for.
 */
export type Gateway = (request: PlainRequest, prefix?: string) => Promise<PlainAnswer>;

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

  return async (request, prefix = '') => {
    const body = await request.readBody();
    const { generation } = log;
    const recorded = record(request, body, prefix);
    log.push(recorded);
    const fault = faults.take('request', requestEntries.toFacts(recorded));
    if (fault !== undefined) recorded.fault = fault.type;
    onRequest(recorded);
    const { requestId } = recorded;
    const answer = () => {
      const made =
        findRefusal(recorded, body) ??
        create(recorded, recorded.json as CreatePaymentInput & Record<string, unknown>);
      // Until it is sent.
      if (fault !== undefined) recorded.answer = recordAnswer(made, true);
      return made;
    };
    try {
      const sent = await answerWithFault(fault, { requestId, request, waiting, answer });
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

  function record(
    request: PlainRequest,
    body: Uint8Array | undefined,
    prefix: string,
  ): LiveRequest {
    const { method, target, headers } = request;
    const text = body === undefined ? '' : decoder.decode(body);
    const json = parseJson(text);
    return {
      requestId: ids.next('requestId'),
      at: new Date(clock.now()),
      method,
      path: target.slice(prefix.length),
      headers: redactHeaders(headers),
      body: text,
      json,
      merchantPaymentReference: referenceIn(json),
      authenticated: prefix !== '' || isAuthorized(headers['authorization']),
      ended: false,
    };
  }

  function create(
    recorded: LiveRequest,
    input: CreatePaymentInput & Record<string, unknown>,
  ): PlainAnswer {
    const payment = payments.create(input);
    recorded.referenceNumber = payment.referenceNumber;
    const record = toStatusRecord(payment);
    if (answerTemplate === '{}') return jsonAnswer(201, record);
    const fields = answerTemplate.replaceAll('{referenceNumber}', payment.referenceNumber);
    return jsonAnswer(201, { ...record, ...JSON.parse(fields) });
  }
}

const { method: METHOD, path: PATH, findInputIssues } = operations['payments.create'];

/**
 * What is wrong with a request. The interface shows the 401 alone: the others are the mock's own choice. Credentials
 * come first: without them a client learns nothing about paths (interface section 5.1).
 */
function findRefusal(
  { requestId, method, path, headers, authenticated, json }: RecordedRequest,
  body: Uint8Array | undefined,
): PlainAnswer | undefined {
  const refuse = (status: number, code: string, message: string, headers = {}) =>
    errorAnswer(requestId, status, { code, message, headers });
  if (!authenticated) return unauthorized(requestId);
  if (withoutQuery(path) !== PATH) {
    const message = `There is nothing at this path; the operations are ${METHOD} ${PATH}.`;
    return refuse(404, 'NOT_FOUND', message);
  }
  if (method !== METHOD) {
    const message = `The method must be ${METHOD} at this path.`;
    return refuse(405, 'METHOD_NOT_ALLOWED', message, { allow: METHOD });
  }
  if (!isJsonType(headers['content-type'])) {
    const message = 'The content-type must be application/json.';
    return refuse(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (body === undefined) return refuse(413, 'PAYLOAD_TOO_LARGE', 'The body is over 1 MiB.');
  if (json === undefined || !isUtf8(body)) {
    const message = 'The body must be JSON in UTF-8, of at most 500 levels.';
    return refuse(400, 'INVALID_REQUEST', message);
  }
  const issues = findInputIssues(json);
  return issues && refuse(400, 'INVALID_REQUEST', describeIssues(issues));
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/**
 * Creates the check of an Authorization header for the account's credentials (interface section 5.1). An absent part
 * accepts anything that is not empty.
 */
function createCredentialCheck({ apiKey, apiSecret }: ResolvedServiceOptions) {
  return (header: string | undefined): boolean => {
    const encoded = BASIC.exec(header ?? '')?.[1] ?? '';
    const decoded = Buffer.from(encoded, 'base64').toString();
    const colon = decoded.indexOf(':');
    const [key, secret] = [decoded.slice(0, colon), decoded.slice(colon + 1)];
    if (colon < 1 || secret === '') return false;
    return key === (apiKey ?? key) && secret === (apiSecret ?? secret);
  };
}
