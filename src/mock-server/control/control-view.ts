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

// Each lists its fields, so that a field that is added to the service, perhaps a secret, is not sent.

export function viewPayment(payment: MockPayment): ControlPayment {
  const { amount, currency, extra, history } = payment;
  return { ...toStatusRecord(payment), amount, currency, extra: { ...extra }, history };
}

export function viewAttempt(attempt: DeliveryAttempt): ControlAttempt {
  return {
    id: attempt.id,
    deliveryId: attempt.deliveryId,
    referenceNumber: attempt.referenceNumber,
    merchantPaymentReference: attempt.merchantPaymentReference,
    status: attempt.status,
    attempt: attempt.attempt,
    copy: attempt.copy,
    url: attempt.url,
    sentAt: attempt.sentAt.toISOString(),
    timestamp: attempt.timestamp,
    headers: attempt.headers,
    rawBody: new TextDecoder().decode(attempt.rawBody),
    signedString: attempt.signedString,
    outcome: attempt.outcome,
    response: attempt.response,
    errorCode: attempt.errorCode,
    latencyMs: attempt.latencyMs,
    fault: attempt.fault,
    nextRetryAt: attempt.nextRetryAt?.toISOString(),
  };
}

export function viewDelivery(delivery: EditableDelivery): ControlDelivery {
  return {
    id: delivery.id,
    referenceNumber: delivery.referenceNumber,
    status: delivery.status,
    updatedAt: delivery.payment.updatedAt,
    state: delivery.state,
    attempts: delivery.attempts.map(viewAttempt),
    edited: delivery.edit?.signature,
  };
}

export function viewCallback(delivery: EditableDelivery, group: CallbackGroup): ControlCallback {
  const { id, referenceNumber, status, payment, state, edit, attempts } = delivery;
  const last = attempts.at(-1);
  return {
    id,
    referenceNumber,
    merchantPaymentReference: payment.merchantPaymentReference,
    status,
    updatedAt: payment.updatedAt,
    state,
    group,
    edited: edit?.signature,
    last: last && {
      attempt: last.attempt,
      sentAt: last.sentAt.toISOString(),
      outcome: last.outcome,
      response: last.response && { status: last.response.status },
      errorCode: last.errorCode,
      latencyMs: last.latencyMs,
      fault: last.fault,
      nextRetryAt: last.nextRetryAt?.toISOString(),
    },
  };
}

export function viewRequest(request: RecordedRequest): ControlRequest {
  return {
    requestId: request.requestId,
    at: request.at.toISOString(),
    method: request.method,
    path: request.path,
    headers: request.headers,
    body: request.body,
    authenticated: request.authenticated,
    fault: request.fault,
    status: request.status,
    ended: request.ended,
  };
}

/** JSON has no Infinity. */
export const UNLIMITED = 'unlimited';

export function viewFault({ id, fault }: PendingFault): ControlFault {
  return {
    id,
    ...fault,
    times: fault.times === Number.POSITIVE_INFINITY ? UNLIMITED : fault.times,
  };
}
