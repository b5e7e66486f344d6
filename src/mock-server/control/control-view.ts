import { version } from '../../protocol/version.js';
import type { RecordedRequest } from '../api/recorded-request.js';
import { answerLine, hintOf, isForged } from '../callbacks/answer-hints.js';
import type { Delivery, DeliveryAttempt, LiveDelivery } from '../callbacks/delivery.js';
import type { Fault } from '../faults/fault-catalogue.js';
import type { MockEvent } from '../mock-service.js';
import type { InProcessService } from '../service.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';

// What the control interface sends to the dashboard and the command line, as JSON: dates are ISO 8601 strings, and
// undefined fields are absent. Each view lists its fields, so that a field added later, perhaps a secret, is not sent.

export type ShownService = InProcessService & { readonly url: string };

function pick<From, Field extends keyof From>(from: From, ...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<From, Field>;
}

export function viewSettings({ url, clock, callbackUrl }: ShownService) {
  const nowMs = clock.now();
  return {
    url,
    version,
    now: new Date(nowMs).toISOString(),
    /** How far `now` is ahead of the system's clock, in milliseconds. */
    aheadMs: nowMs - Date.now(),
    /** `false` for a clock that stands still until it is advanced. */
    clockRuns: clock.runs,
    /** Where callbacks are sent; `null` when they are not. */
    callbackUrl: callbackUrl ?? null,
  };
}

/** Everything, so many of each kind, newest first. */
export function viewState(service: ShownService, shown: number) {
  const newest = <Entry>(oldestFirst: readonly Entry[]) => oldestFirst.slice(-shown).reverse();
  const [payments, deliveries] = [service.payments.list(), service.dispatcher.list()];
  return {
    ...viewSettings(service),
    payments: newest(payments).map(viewPayment),
    requests: newest(service.requests).map(viewRequest),
    deliveries: newest(deliveries).map(viewDelivery),
    ...viewFaults(service),
    /** How many the service keeps, and how many of the payments are a second one of their order. */
    counts: {
      payments: payments.length,
      requests: service.requests.length,
      deliveries: deliveries.length,
      secondPayments: service.payments.seconds,
    },
  };
}

/** A payment and its whole story. Lists are oldest first. */
export function viewPaymentDetail(service: ShownService, payment: MockPayment) {
  const { referenceNumber, merchantPaymentReference: order } = payment;
  const { dispatcher, payments, requests } = service;
  const deliveries = dispatcher.list().filter((one) => one.referenceNumber === referenceNumber);
  return {
    payment: viewPayment(payment),
    deliveries: deliveries.map(viewDelivery),
    /** The kept requests with its merchantPaymentReference. */
    requests: requests.filter((one) => one.merchantPaymentReference === order).map(viewRequest),
    /** The other payments with its merchantPaymentReference. */
    others: payments
      .ofOrder(order)
      .filter((one) => one !== payment)
      .map(viewPayment),
  };
}

function viewPayment(payment: MockPayment): MockPayment {
  const { amount, currency, extra, history, secondOf } = payment;
  return { ...toStatusRecord(payment), amount, currency, extra, history, secondOf };
}

const IDS = ['id', 'deliveryId', 'referenceNumber', 'merchantPaymentReference', 'status'] as const;
const SENT = ['attempt', 'copy', 'url', 'timestamp', 'headers', 'fault'] as const;
const ENDED = ['outcome', 'response', 'errorCode', 'latencyMs'] as const;
export function viewAttempt(attempt: DeliveryAttempt) {
  const rawBody = new TextDecoder().decode(attempt.rawBody);
  const { timestamp, signedString } = attempt;
  return {
    ...pick(attempt, ...IDS, ...SENT, ...ENDED),
    sentAt: attempt.sentAt.toISOString(),
    rawBody,
    /** The signed text, where it is not the timestamp, a full stop and the body as sent. */
    signedString: signedString === `${timestamp}.${rawBody}` ? undefined : signedString,
    nextRetryAt: attempt.nextRetryAt?.toISOString(),
    /** Whether it should have been refused: another secret made its signature, or its body was changed. */
    forged: isForged(attempt),
    /** What the endpoint's answer says, in one line of at most 200 characters; absent when its body is empty. */
    answerLine: attempt.response && answerLine(attempt.response.body),
    /** Why it is not as it should be, as far as the mock knows. */
    hint: hintOf(attempt),
  };
}

type ShownDelivery = Delivery & Pick<LiveDelivery, 'edit'>;

const viewChange = (delivery: ShownDelivery) => ({
  ...pick(delivery, 'id', 'referenceNumber', 'status', 'state'),
  merchantPaymentReference: delivery.payment.merchantPaymentReference,
  updatedAt: delivery.payment.updatedAt,
  /** How its edited body was signed; absent when the body was not edited. */
  edited: delivery.edit?.signature,
});

/** The callback of a status change, with its ended attempts, oldest first. */
export const viewDelivery = (delivery: ShownDelivery) => ({
  ...viewChange(delivery),
  attempts: delivery.attempts.map(viewAttempt) as readonly ReturnType<typeof viewAttempt>[],
});

export function viewRequest(request: RecordedRequest) {
  const { answer } = request;
  return {
    ...pick(request, 'requestId', 'method', 'path', 'headers', 'body', 'answer'),
    ...pick(request, 'merchantPaymentReference', 'referenceNumber'),
    ...pick(request, 'authenticated', 'fault', 'status', 'ended'),
    at: request.at.toISOString(),
    outcome: outcomeOf(request),
    /** What the answer says, in one line, if it is no success. */
    answerLine: answer && answer.status >= 400 ? answerLine(answer.body) : undefined,
  };
}

/** `accepted`: a 2xx reached the caller. `refused`: another status did. `lost`: no answer reached the caller. */
function outcomeOf({ ended, status }: RecordedRequest) {
  if (!ended) return 'waiting';
  if (status === undefined) return 'lost';
  return status >= 200 && status < 300 ? 'accepted' : 'refused';
}

/** JSON has no Infinity. */
export const UNLIMITED = 'unlimited';

type WithJsonTimes<AnyFault> = AnyFault extends unknown
  ? Omit<AnyFault, 'times'> & {
      times?: number | typeof UNLIMITED | undefined;
      /** For `DELETE /_mock/faults/{id}`. */
      id: string;
    }
  : never;
export const viewFaults = ({ faults }: Pick<InProcessService, 'faults'>) => ({
  faults: faults.list().map(({ id, fault }) => ({
    id,
    ...fault,
    times: fault.times === Number.POSITIVE_INFINITY ? UNLIMITED : fault.times,
  })) as readonly WithJsonTimes<Fault>[],
});

/** In each server-sent event, `event` is the type and `data` the whole object. */
export function viewEvent(event: MockEvent, service: ShownService) {
  const { type } = event;
  switch (type) {
    case 'payment':
      return { type, payment: viewPayment(event.payment) };
    case 'request':
      return { type, request: viewRequest(event.request) };
    case 'attempt':
      return { type, attempt: viewAttempt(event.attempt) };
    case 'delivery': {
      const { attempts, state } = event.delivery;
      const isNew = attempts.length === 0 && (state === 'sending' || state === 'not-configured');
      return { type, isNew, delivery: viewChange(event.delivery) };
    }
    case 'faults':
      return { type, ...viewFaults(service) };
    case 'limit':
      return { type, kind: event.kind, message: event.message };
    case 'reset':
      return { type, settings: viewSettings(service) };
    default:
      return { type: 'settings' as const, settings: viewSettings(service) };
  }
}
