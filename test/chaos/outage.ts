import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import type { MockServer } from '../../src/mock-server/server.js';
import type { Database } from './database.js';

/** A time during which the database was down, in epoch milliseconds. */
export interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

const ATTEMPTS = 30;
const PATIENCE_MS = 20_000;

/**
 * Crashes the database and starts it again when the service has made some attempts without it.
 *
 * @param isCounted which of them count
 */
export async function causeOutage(
  database: Database,
  mock: MockServer,
  isCounted: (attempt: DeliveryAttempt) => boolean,
): Promise<Outage> {
  await database.crash();
  const fromMs = Date.now();
  try {
    for (let count = 0; count < ATTEMPTS; ) {
      await pause(20);
      const during = { fromMs, toMs: Date.now() };
      count = mock.deliveries.filter(
        (attempt) => isWithin(during, attempt) && isCounted(attempt),
      ).length;
      if (during.toMs - fromMs > PATIENCE_MS) {
        throw new Error(`Only ${count} attempts during ${PATIENCE_MS} ms without the database`);
      }
    }
    return { fromMs, toMs: Date.now() };
  } finally {
    await database.restart();
  }
}

/** Whether all of the attempt fell into the outage. */
export function isWithin({ fromMs, toMs }: Outage, attempt: DeliveryAttempt): boolean {
  return attempt.sentAt.getTime() > fromMs && endOf(attempt) < toMs;
}

/** When an attempt ended, in epoch milliseconds. */
export function endOf({ sentAt, latencyMs }: DeliveryAttempt): number {
  return sentAt.getTime() + latencyMs;
}
