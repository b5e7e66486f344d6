import type { CallbackFault } from 'merchant-payments/mock-server';
import {
  createMockService,
  createRunningClock,
  type MockService,
} from 'merchant-payments/mock-server';
import { UsageError } from '../command.js';
import type { CallbackInput } from './callback-options.js';
import type { SentCallback } from './sent-callback.js';

interface FaultySending {
  readonly url: URL;
  readonly input: CallbackInput;
  readonly fault: CallbackFault;
  /** How many payments have a callback with the fault. */
  readonly times: number;
  readonly timeoutMs: number;
}

/** The status of the older change, with a fault of order. */
const OLDER_STATUS = 'pending';

/**
 * Has a mock service of this process send callbacks with a fault, so that a fault is the same here,
 * in the mock and in its tests.
 *
 * @throws {UsageError} for fields that a payment of the mock does not have
 */
export async function sendFaultyCallbacks(
  sending: FaultySending,
): Promise<readonly SentCallback[]> {
  const { url, input, fault, times, timeoutMs } = sending;
  assertPayment(input);
  const { timestamp, signingSecret, signatureEncoding } = input;
  const clock = createRunningClock();
  const service = createMockService({
    callbackUrl: url.href,
    signingSecret,
    signatureEncoding,
    callbackTimeoutMs: timeoutMs,
    // What is lost on its way comes with the retry; nothing else is to come twice.
    retryScheduleMs: fault.type === 'drop' ? [0] : [],
    clock:
      timestamp === undefined
        ? clock
        : {
            now: () => clock.now(),
            setTimeout: (run, delayMs) => clock.setTimeout(run, delayMs),
            signingTime: () => timestamp * 1000,
          },
  });
  try {
    for (let count = 0; count < times; count += 1) await changeStatus(service, sending);
    return [...service.deliveries];
  } finally {
    await service.close();
  }
}

function assertPayment({ body, record }: CallbackInput): void {
  const given = Object.keys(record).filter(
    (name) => name !== 'status' && name !== 'merchantPaymentReference',
  );
  if (body === undefined && given.length === 0) return;
  throw new UsageError(
    `with --fault the callback is one of a payment of the mock, which has only --reference and --status to be given, but ${body === undefined ? given.join(', ') : 'a whole body'} came; leave it out, or the fault`,
  );
}

async function changeStatus(
  service: MockService,
  { input, fault, timeoutMs }: FaultySending,
): Promise<void> {
  const { status = 'paid', merchantPaymentReference } = input.record;
  const referenceNumber = await createPayment(service, merchantPaymentReference);
  // A retry of an attempt that was dropped is to arrive.
  service.faults.add({ ...fault, match: { referenceNumber, attempt: 1 } });
  if (fault.type === 'reorder') await service.setStatus(referenceNumber, OLDER_STATUS);
  await service.setStatus(referenceNumber, String(status));
  if (fault.type === 'drop') {
    await service.waitForDelivery(
      { referenceNumber, attempt: 2 },
      { timeoutMs: timeoutMs + 5_000 },
    );
  }
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
  throw new UsageError('--reference was not accepted as the reference of a payment');
}
