import { performance } from 'node:perf_hooks';
import type {
  CallbackFault,
  DeliveryAttempt,
  MockClock,
  MockService,
} from 'merchant-payments/mock-server';
import { LONGEST_TIMER_MS } from '../protocol/options.js';
import { UsageError } from './command.js';
import { exchange } from './network.js';
import { type CallbackInput, type CallbackRequest, signInput } from './outgoing.js';

/** A sent callback and its outcome. */
export type SentCallback = Pick<
  DeliveryAttempt,
  | 'url'
  | 'attempt'
  | 'copy'
  | 'sentAt'
  | 'headers'
  | 'rawBody'
  | 'outcome'
  | 'response'
  | 'errorCode'
  | 'latencyMs'
  | 'fault'
>;

interface Sending {
  readonly url: URL;
  readonly input: CallbackInput;
  /** The fault of each callback; without one they are valid. */
  readonly fault: CallbackFault | undefined;
  /** How many callbacks are sent, each for another payment. */
  readonly times: number;
  readonly timeoutMs: number;
}

/**
 * Sends callbacks one after the other.
 *
 * @throws {UsageError} with a fault, for fields that a payment of the mock does not have
 */
export async function sendCallbacks(sending: Sending): Promise<readonly SentCallback[]> {
  const { url, input, fault, times, timeoutMs } = sending;
  if (fault !== undefined) return sendFaultyCallbacks({ ...sending, fault });
  const sent: SentCallback[] = [];
  for (let count = 0; count < times; count += 1) {
    sent.push(await postCallback({ url, ...(await signInput(input)) }, timeoutMs));
  }
  return sent;
}

type FaultySending = Sending & { readonly fault: CallbackFault };

/** The status of the older change that a reorder fault needs. */
const OLDER_STATUS = 'pending';

// Sent by a mock service in this process, so that a fault is the same as in the mock.
async function sendFaultyCallbacks(sending: FaultySending): Promise<readonly SentCallback[]> {
  const { url, input, fault, times, timeoutMs } = sending;
  assertPayment(input);
  const { createMockService, createRunningClock } = await import('merchant-payments/mock-server');
  const { timestamp, signingSecret, signatureEncoding } = input;
  const clock = createRunningClock();
  const service = createMockService({
    callbackUrl: url.href,
    signingSecret,
    signatureEncoding,
    callbackTimeoutMs: timeoutMs,
    // Only a dropped callback is retried.
    retryScheduleMs: fault.type === 'drop' ? [0] : [],
    clock: timestamp === undefined ? clock : withSigningTime(clock, timestamp * 1000),
  });
  try {
    for (let count = 0; count < times; count += 1) await changeStatus(service, sending);
    return [...service.deliveries];
  } finally {
    await service.close();
  }
}

const withSigningTime = (clock: MockClock, epochMs: number): MockClock => ({
  now: () => clock.now(),
  setTimeout: (run, delayMs) => clock.setTimeout(run, delayMs),
  signingTime: () => epochMs,
});

function assertPayment({ body, record }: CallbackInput): void {
  const others = Object.keys(record).filter(
    (name) => name !== 'status' && name !== 'merchantPaymentReference',
  );
  if (body === undefined && others.length === 0) return;
  const received = body === undefined ? others.join(', ') : 'a whole body';
  throw new UsageError(
    `with --fault, only --reference and --status of the record can be given; received ${received}: leave that out, or --fault`,
  );
}

async function changeStatus(
  service: MockService,
  { input, fault, timeoutMs }: FaultySending,
): Promise<void> {
  const { status = 'paid', merchantPaymentReference } = input.record;
  const referenceNumber = await createPayment(service, merchantPaymentReference);
  // On the first attempt only: the retry of a dropped attempt must arrive.
  service.faults.add({ ...fault, match: { referenceNumber, attempt: 1 } });
  if (fault.type === 'reorder') await service.setStatus(referenceNumber, OLDER_STATUS);
  await service.setStatus(referenceNumber, String(status));
  const lateMs = fault.type === 'late-callback' ? (fault.delayMs ?? 1_000) : 0;
  const longest = Math.min(lateMs + timeoutMs + 5_000, LONGEST_TIMER_MS);
  const attempt = fault.type === 'drop' ? 2 : 1;
  await service.waitForDelivery({ referenceNumber, attempt }, { timeoutMs: longest });
}

async function createPayment(service: MockService, reference: unknown): Promise<string> {
  const merchantPaymentReference =
    typeof reference === 'string' ? reference : `order-${crypto.randomUUID()}`;
  await service.fetch(
    new Request('http://mock.invalid/api/payments', {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa('any:credentials')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ merchantPaymentReference, amount: 100, currency: 'EUR' }),
    }),
  );
  const payment = service.payments.list().at(-1);
  if (payment !== undefined) return payment.referenceNumber;
  throw new UsageError('the mock did not accept --reference as the reference of a payment');
}

/** The body of an answer is only shown, so the rest is not read. */
const MAX_ANSWER_BYTES = 4_096;

type Answer = Pick<SentCallback, 'outcome' | 'response' | 'errorCode'>;

/** Posts a callback once. Never rejects: a failure is a result. */
async function postCallback(
  { url, headers, rawBody }: CallbackRequest,
  timeoutMs: number,
): Promise<SentCallback> {
  const sentAt = new Date();
  const startedMs = performance.now();
  const signal = AbortSignal.timeout(timeoutMs);
  const request = { method: 'POST', headers, body: rawBody, signal, maxBytes: MAX_ANSWER_BYTES };
  const answer = await exchange(url, request).then(
    ({ status, body }): Answer => ({
      outcome: status >= 200 && status < 300 ? 'acknowledged' : 'refused',
      response: { status, body: body.toString('utf8', 0, MAX_ANSWER_BYTES) },
    }),
    ({ code, name }: NodeJS.ErrnoException): Answer =>
      signal.aborted ? { outcome: 'timed-out' } : { outcome: 'failed', errorCode: code ?? name },
  );
  const latencyMs = performance.now() - startedMs;
  return { url: url.href, attempt: 1, copy: 0, sentAt, headers, rawBody, latencyMs, ...answer };
}
