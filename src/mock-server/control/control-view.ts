import type { RecordedRequest } from '../api/recorded-request.js';
import { answerLine, hintOf, isForged } from '../callbacks/answer-hints.js';
import type { DeliveryAttempt, EditableDelivery } from '../callbacks/delivery.js';
import type { FaultList } from '../faults/fault-list.js';
import type { MockEvent } from '../mock-service.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';
import type {
  ControlAttempt,
  ControlDelivery,
  ControlEvent,
  ControlFaults,
  ControlPayment,
  ControlRequest,
  ControlSettings,
} from './control-types.js';

// Each view lists its fields, so that a field added later, perhaps a secret, is not sent.

function pick<From, Field extends keyof From>(from: From, ...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<From, Field>;
}

export function viewPayment(payment: MockPayment): ControlPayment {
  const { amount, currency, extra, history, secondOf } = payment;
  return { ...toStatusRecord(payment), amount, currency, extra, history, secondOf };
}

const IDS = ['id', 'deliveryId', 'referenceNumber', 'merchantPaymentReference', 'status'] as const;
const SENT = ['attempt', 'copy', 'url', 'timestamp', 'headers', 'fault'] as const;
const ENDED = ['outcome', 'response', 'errorCode', 'latencyMs'] as const;

export function viewAttempt(attempt: DeliveryAttempt): ControlAttempt {
  const rawBody = new TextDecoder().decode(attempt.rawBody);
  const { timestamp, signedString } = attempt;
  return {
    ...pick(attempt, ...IDS, ...SENT, ...ENDED),
    sentAt: attempt.sentAt.toISOString(),
    rawBody,
    ...(signedString !== `${timestamp}.${rawBody}` && { signedString }),
    nextRetryAt: attempt.nextRetryAt?.toISOString(),
    forged: isForged(attempt),
    answerLine: attempt.response && answerLine(attempt.response.body),
    hint: hintOf(attempt),
  };
}

const viewChange = (delivery: EditableDelivery): Omit<ControlDelivery, 'attempts'> => ({
  ...pick(delivery, 'id', 'referenceNumber', 'status', 'state'),
  merchantPaymentReference: delivery.payment.merchantPaymentReference,
  updatedAt: delivery.payment.updatedAt,
  edited: delivery.edit?.signature,
});

export const viewDelivery = (delivery: EditableDelivery): ControlDelivery => ({
  ...viewChange(delivery),
  attempts: delivery.attempts.map(viewAttempt),
});

export function viewRequest(request: RecordedRequest): ControlRequest {
  const { answer } = request;
  return {
    ...pick(request, 'requestId', 'method', 'path', 'headers', 'body', 'answer'),
    ...pick(request, 'merchantPaymentReference', 'referenceNumber'),
    ...pick(request, 'authenticated', 'fault', 'status', 'ended'),
    at: request.at.toISOString(),
    outcome: outcomeOf(request),
    answerLine: answer && answer.status >= 400 ? answerLine(answer.body) : undefined,
  };
}

function outcomeOf({ ended, status }: RecordedRequest): ControlRequest['outcome'] {
  if (!ended) return 'waiting';
  if (status === undefined) return 'lost';
  return status >= 200 && status < 300 ? 'accepted' : 'refused';
}

/** JSON has no Infinity. */
export const UNLIMITED = 'unlimited';

export const viewFaults = (faults: FaultList): ControlFaults => ({
  faults: faults.list().map(({ id, fault }) => ({
    id,
    ...fault,
    times: fault.times === Number.POSITIVE_INFINITY ? UNLIMITED : fault.times,
  })),
});

interface Now {
  readonly settings: () => ControlSettings;
  readonly faults: FaultList;
}

export function viewEvent(event: MockEvent, { settings, faults }: Now): ControlEvent {
  switch (event.type) {
    case 'payment':
      return { type: 'payment', payment: viewPayment(event.payment) };
    case 'request':
      return { type: 'request', request: viewRequest(event.request) };
    case 'attempt':
      return { type: 'attempt', attempt: viewAttempt(event.attempt) };
    case 'delivery': {
      const { attempts, state } = event.delivery;
      const isNew = attempts.length === 0 && (state === 'sending' || state === 'not-configured');
      return { type: 'delivery', isNew, delivery: viewChange(event.delivery) };
    }
    case 'faults':
      return { type: 'faults', ...viewFaults(faults) };
    case 'limit':
      return { type: 'limit', kind: event.kind, message: event.message };
    case 'reset':
      return { type: 'reset', settings: settings() };
    default:
      return { type: 'settings', settings: settings() };
  }
}
