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
  const { mock, inFlight, onPaymentDone } = options;
  const waiting = (await createPayments(options)).values();
  const traffic: Traffic = { changes: [], deliveries: [] };
  let done = 0;
  const takeOneAfterAnother = async (): Promise<void> => {
    for (const reference of waiting) {
      const { changes, deliveries } = await changeStatuses(mock, reference, options.random);
      traffic.changes.push(...changes);
      traffic.deliveries.push(...deliveries);
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

async function changeStatuses(
  mock: MockServer,
  reference: string,
  random: () => number,
): Promise<Traffic> {
  const sendings: Promise<Delivery>[] = [];
  for (const status of STATUSES) {
    const isLast = status === STATUSES.at(-1);
    planDelivery(mock, random, !isLast && random() < 0.3);
    const sending = mock.setStatus(reference, status);
    sendings.push(sending);
    // Some changes are acknowledged before the next is made, and can't be stale.
    if (random() < 0.4) await sending;
  }
  const deliveries = await Promise.all(sendings);
  await Promise.all(deliveries.map(waitUntilSettled));
  const changes = deliveries.map(({ payment, status, attempts }) => ({
    key: callbackKey(payment),
    reference,
    status,
    acknowledgedAtMs: Math.min(...attempts.filter(isAcknowledged).map(endOf)),
  }));
  return { changes, deliveries };
}

// Taken by the setStatus that follows at once, and by the retries that fall due until the next plan.
function planDelivery({ faults }: MockServer, random: () => number, isHeldBack: boolean): void {
  faults.clear();
  if (isHeldBack) faults.add({ on: 'callback', type: 'reorder' });
  faults.add({
    on: 'callback',
    type: 'duplicate',
    copies: 2,
    mode: random() < 0.7 ? 'at-once' : 'in-turn',
    times: Number.POSITIVE_INFINITY,
  });
}

function isAcknowledged({ outcome }: DeliveryAttempt): boolean {
  return outcome === 'acknowledged';
}

async function waitUntilSettled(delivery: Delivery): Promise<void> {
  while (['held', 'sending', 'retrying'].includes(delivery.state)) await pause(10);
}
