import type { RecordedRequest } from '../api/recorded-request.js';
import type { DeliveryAttempt, EditableDelivery } from '../callbacks/delivery.js';
import type { PendingFault } from '../faults/fault-list.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';
import type { CallbackGroup } from './callback-groups.js';
import type {
  ControlAttempt,
  ControlCallback,
  ControlDelivery,
  ControlFault,
  ControlPayment,
  ControlRequest,
} from './control-types.js';

// Each view lists its fields, so that a field added later, perhaps a secret, is not sent.

function pick<From, Field extends keyof From>(from: From, ...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<From, Field>;
}

export function viewPayment(payment: MockPayment): ControlPayment {
  const { amount, currency, extra, history } = payment;
  return { ...toStatusRecord(payment), amount, currency, extra: { ...extra }, history };
}

const OUTCOME = ['attempt', 'outcome', 'errorCode', 'latencyMs', 'fault'] as const;
const MESSAGE = ['timestamp', 'headers', 'signedString', 'response'] as const;
const IDS = ['id', 'deliveryId', 'referenceNumber', 'merchantPaymentReference'] as const;

export const viewAttempt = (attempt: DeliveryAttempt): ControlAttempt => ({
  ...pick(attempt, ...IDS, 'status', 'copy', 'url', ...OUTCOME, ...MESSAGE),
  sentAt: attempt.sentAt.toISOString(),
  rawBody: new TextDecoder().decode(attempt.rawBody),
  nextRetryAt: attempt.nextRetryAt?.toISOString(),
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

export function viewCallback(delivery: EditableDelivery, group: CallbackGroup): ControlCallback {
  const last = delivery.attempts.at(-1);
  return {
    ...viewChange(delivery),
    merchantPaymentReference: delivery.payment.merchantPaymentReference,
    group,
    last: last && {
      ...pick(last, ...OUTCOME),
      sentAt: last.sentAt.toISOString(),
      response: last.response && { status: last.response.status },
      nextRetryAt: last.nextRetryAt?.toISOString(),
    },
  };
}

export const viewRequest = (request: RecordedRequest): ControlRequest => ({
  ...pick(request, 'requestId', 'method', 'path', 'headers', 'body'),
  ...pick(request, 'authenticated', 'fault', 'status', 'ended'),
  at: request.at.toISOString(),
});

/** JSON has no Infinity. */
export const UNLIMITED = 'unlimited';

export function viewFault({ id, fault }: PendingFault): ControlFault {
  return {
    id,
    ...fault,
    times: fault.times === Number.POSITIVE_INFINITY ? UNLIMITED : fault.times,
  };
}
