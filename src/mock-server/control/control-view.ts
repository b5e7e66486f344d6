import type { RecordedRequest } from '../api/recorded-request.js';
import { answerLine, hintOf } from '../callbacks/answer-hints.js';
import type { DeliveryAttempt, EditableDelivery } from '../callbacks/delivery.js';
import type { FaultList } from '../faults/fault-list.js';
import type { MockEvent } from '../mock-service.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';
import type { CallbackGroup } from './callback-groups.js';
import type {
  ControlAttempt,
  ControlCallback,
  ControlDelivery,
  ControlEvent,
  ControlFaults,
  ControlPayment,
  ControlRequest,
  ControlState,
  RequestOutcome,
} from './control-types.js';

// Each view lists its fields, so that a field added later, perhaps a secret, is not sent.

function pick<From, Field extends keyof From>(from: From, ...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<From, Field>;
}

export function viewPayment(payment: MockPayment): ControlPayment {
  const { amount, currency, extra, history, secondOf } = payment;
  return { ...toStatusRecord(payment), amount, currency, extra: { ...extra }, history, secondOf };
}

const OUTCOME = ['attempt', 'outcome', 'errorCode', 'latencyMs', 'fault'] as const;
const MESSAGE = ['timestamp', 'headers', 'signedString', 'response'] as const;
const IDS = ['id', 'deliveryId', 'referenceNumber', 'merchantPaymentReference'] as const;

export const viewAttempt = (attempt: DeliveryAttempt): ControlAttempt => ({
  ...pick(attempt, ...IDS, 'status', 'copy', 'url', ...OUTCOME, ...MESSAGE),
  sentAt: attempt.sentAt.toISOString(),
  rawBody: new TextDecoder().decode(attempt.rawBody),
  ...viewReason(attempt),
});

const viewReason = (attempt: DeliveryAttempt) => ({
  nextRetryAt: attempt.nextRetryAt?.toISOString(),
  answerLine: attempt.response && answerLine(attempt.response.body),
  hint: hintOf(attempt),
});

const viewChange = (delivery: EditableDelivery) => ({
  ...pick(delivery, 'id', 'referenceNumber', 'status', 'state'),
  updatedAt: delivery.payment.updatedAt,
  edited: delivery.edit?.signature,
});

export const viewDelivery = (delivery: EditableDelivery): ControlDelivery => ({
  ...viewChange(delivery),
  attempts: delivery.attempts.map(viewAttempt),
});

export function viewCallback(
  delivery: EditableDelivery & { readonly group: CallbackGroup },
): ControlCallback {
  const last = delivery.attempts.at(-1);
  return {
    ...viewChange(delivery),
    merchantPaymentReference: delivery.payment.merchantPaymentReference,
    group: delivery.group,
    last: last && {
      ...pick(last, ...OUTCOME),
      sentAt: last.sentAt.toISOString(),
      response: last.response && { status: last.response.status },
      ...viewReason(last),
    },
  };
}

export const viewRequest = (request: RecordedRequest): ControlRequest => ({
  ...pick(request, 'requestId', 'method', 'path', 'headers', 'body', 'answer'),
  ...pick(request, 'merchantPaymentReference', 'referenceNumber'),
  ...pick(request, 'authenticated', 'fault', 'status', 'ended'),
  at: request.at.toISOString(),
  outcome: outcomeOf(request),
});

export function outcomeOf({ ended, status }: RecordedRequest): RequestOutcome {
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
  readonly state: () => ControlState;
  readonly faults: FaultList;
}

export function viewEvent(event: MockEvent, { state, faults }: Now): ControlEvent {
  switch (event.type) {
    case 'payment':
      return { type: 'payment', payment: viewPayment(event.payment) };
    case 'request':
      return { type: 'request', request: viewRequest(event.request) };
    case 'attempt':
      return { type: 'attempt', attempt: viewAttempt(event.attempt) };
    case 'delivery': {
      const { merchantPaymentReference } = event.delivery.payment;
      const shown = pick(event.delivery, 'id', 'referenceNumber', 'status', 'state');
      return { type: 'delivery', delivery: { ...shown, merchantPaymentReference } };
    }
    case 'faults':
      return { type: 'faults', ...viewFaults(faults) };
    case 'limit':
      return { type: 'limit', kind: event.kind, message: event.message };
    case 'reset':
      return { type: 'reset', state: state() };
    default:
      return { type: 'state', state: state() };
  }
}
