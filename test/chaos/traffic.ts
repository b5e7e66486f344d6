import { setTimeout as pause } from 'node:timers/promises';
import { callbackKey } from '../../src/callback/verify.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import type { Delivery, DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import type { MockServer } from '../../src/mock-server/server.js';
import type { Change } from './history.js';
import { endOf } from './outage.js';

/** The changes of every payment. Two of them may come late; after the last nothing is held back. */
const STATUSES = ['authorized', 'captured', 'paid'] as const;

export interface TrafficOptions {
  readonly mock: MockServer;
  readonly payments: number;
  /** How many payments are under way at a time. */
  readonly inFlight: number;
  readonly random: () => number;
  /** Told how many payments are done, whenever one is. */
  onPaymentDone(count: number): void;
}

export interface Traffic {
  readonly changes: Change[];
  readonly deliveries: Delivery[];
}

/**
 * Makes payments and changes their statuses, each callback sent three times. Resolves when every
 * callback is acknowledged or no longer retried, and no copy of it is under way.
 */
export async function runTraffic(options: TrafficOptions): Promise<Traffic> {
  const { inFlight, onPaymentDone } = options;
  const waiting = (await createPayments(options)).values();
  const traffic: Traffic = { changes: [], deliveries: [] };
  let done = 0;
  const takeOneAfterAnother = async (): Promise<void> => {
    for (const reference of waiting) {
      const ofPayment = await changeStatuses({ ...options, reference, statuses: STATUSES });
      traffic.changes.push(...ofPayment.changes);
      traffic.deliveries.push(...ofPayment.deliveries);
      done += 1;
      onPaymentDone(done);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, takeOneAfterAnother));
  return traffic;
}

async function createPayments({ mock, payments }: TrafficOptions): Promise<string[]> {
  const { url: baseUrl, apiKey, apiSecret } = mock;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  for (let number = 1; number <= payments; number += 1) {
    const merchantPaymentReference = `order-${number}`;
    await client.payments.create({ merchantPaymentReference, amount: 100, currency: 'EUR' });
  }
  await client.close();
  return mock.payments.list().map(({ referenceNumber }) => referenceNumber);
}

export interface ChangeOptions extends Pick<TrafficOptions, 'mock' | 'random'> {
  /** That of the payment. */
  readonly reference: string;
  readonly statuses: readonly string[];
  /** Whether other faults are pending, which must stay. Retries are then sent once. */
  readonly keepsFaults?: boolean;
}

/** Changes the status of a payment, and resolves when no callback of it is under way. */
export async function changeStatuses(options: ChangeOptions): Promise<Traffic> {
  const { mock, reference, statuses, random } = options;
  const sendings: Promise<Delivery>[] = [];
  for (const status of statuses) {
    const isLast = status === statuses.at(-1);
    planDelivery(options, status, !isLast && random() < 0.3);
    const sending = mock.setStatus(reference, status);
    sendings.push(sending);
    // Some changes are acknowledged before the next is made, and can't be older.
    if (random() < 0.4) await sending;
  }
  const deliveries = await Promise.all(sendings);
  await Promise.all(deliveries.map(waitUntilSettled));
  const changes = deliveries.map(({ payment, status, attempts }) => ({
    key: callbackKey(payment),
    reference,
    order: reference,
    status,
    acknowledgedAtMs: Math.min(...attempts.filter(isAcknowledged).map(endOf)),
  }));
  return { changes, deliveries };
}

// Taken by the setStatus that follows at once, and by the retries that fall due until the next plan.
function planDelivery(
  { mock: { faults }, reference: referenceNumber, random, keepsFaults = false }: ChangeOptions,
  status: string,
  isHeldBack: boolean,
): void {
  const match = keepsFaults ? { referenceNumber, status } : {};
  if (!keepsFaults) faults.clear();
  if (isHeldBack) faults.add({ on: 'callback', type: 'reorder', match });
  faults.add({
    on: 'callback',
    type: 'duplicate',
    copies: 2,
    mode: random() < 0.7 ? 'at-once' : 'in-turn',
    times: keepsFaults ? 1 : Number.POSITIVE_INFINITY,
    match,
  });
}

function isAcknowledged({ outcome }: DeliveryAttempt): boolean {
  return outcome === 'acknowledged';
}

async function waitUntilSettled(delivery: Delivery): Promise<void> {
  while (['held', 'sending', 'retrying'].includes(delivery.state)) await pause(10);
}
