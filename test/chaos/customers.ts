import { setTimeout as pause } from 'node:timers/promises';
import type { RequestFault } from '../../src/mock-server/faults/fault-catalogue.js';
import type { MockServer } from '../../src/mock-server/server.js';

export interface Customers {
  readonly mock: MockServer;
  readonly shopUrl: string;
  readonly random: () => number;
}

export interface CustomersOptions extends Customers {
  readonly references: readonly string[];
  /** Called when an order has been asked for. The customer takes the next when it has resolved. */
  onOrderDone(reference: string, count: number): Promise<void> | void;
}

const IN_FLIGHT = 20;
const CALLERS = 3;
const ATTEMPTS = 6;
// The last ones create the payment before their body is lost.
const FAULTS: readonly RequestFault['type'][] = [
  'lost-answer',
  'lost-answer',
  'reset-before-headers',
  'server-error',
  'hang',
  'rate-limit',
  'unauthorized',
  'reset-in-body',
  'truncated-body',
];

/** Has every order asked for by several callers at once, many of them at a service that fails. */
export async function placeOrders(options: CustomersOptions): Promise<void> {
  const waiting = options.references.values();
  let done = 0;
  const takeOneAfterAnother = async (): Promise<void> => {
    for (const reference of waiting) {
      if (options.random() < 0.6) addFault(reference, options);
      await Promise.all(Array.from({ length: CALLERS }, () => ask(reference, options)));
      done += 1;
      await options.onOrderDone(reference, done);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, takeOneAfterAnother));
}

export function addFault(merchantPaymentReference: string, { mock, random }: Customers): void {
  const type = FAULTS[Math.floor(random() * FAULTS.length)] as 'hang';
  // What is rejected is sent again for the next caller.
  const times = (type as string) === 'unauthorized' && random() < 0.5 ? ATTEMPTS * CALLERS : 1;
  mock.faults.add({ on: 'request', type, times, match: { merchantPaymentReference } });
}

/** As a customer does: again when the process that was asked has died, or the shop is out of order. */
export async function ask(
  reference: string,
  { shopUrl }: Pick<Customers, 'shopUrl'>,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await fetch(`${shopUrl}/buy/${reference}`, {
      headers: { connection: 'close' },
    }).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    if (answer !== undefined && answer.status !== 503) return;
    await pause(50 * 2 ** attempt);
  }
}
