import type { PaymentClientOptions } from '../../../src/client/options.js';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import { failureOf, now } from '../../callback/sample-callback.js';
import { apiKey, apiSecret, authorization, customer, reference, signingText } from '../planted.js';
import type { See } from '../watch.js';
import { record, signed } from './signed-callback.js';

export const order = {
  merchantPaymentReference: reference,
  amount: 2500,
  currency: 'EUR',
};
const other = { ...order, amount: 1 };

export const said = `${authorization} ${apiKey}:${apiSecret} ${JSON.stringify(order)}`;
const answers: readonly (() => Response)[] = [
  () => Response.json({ code: 'REFUSED', message: said }, { status: 422 }),
  () => new Response(said, { status: 429 }),
  () => {
    throw new Error(said);
  },
];

/** A client of a service that says what it was sent. */
export function createClient(options: Partial<PaymentClientOptions> = {}): PaymentClient {
  let count = 0;
  return new PaymentClient({
    baseUrl: 'https://payments.invalid',
    apiKey,
    apiSecret,
    maxRetries: 0,
    fetch: async () => (answers[count++ % answers.length] as () => Response)(),
    ...options,
  });
}

/** What it keeps and gives back is the merchant's own; what it says when something fails is looked at. */
export async function use<Tx>(see: See, store: PaymentStore<Tx>): Promise<void> {
  see('the store', store);
  for (const outcome of ['nothing sent', 'a refusal', 'an unknown outcome']) {
    see(`the error of ${outcome}`, (await store.create(order)).error);
  }
  const stored = await store.create(order);
  const { attempts } = stored;
  see('the failure that is kept', stored.state === 'unresolved' && stored.failure);
  see('a conflict', await failureOf(() => store.create(other)));
  see('a conflict of record', await failureOf(() => store.record(other, { tx: undefined as Tx })));
  see('an unknown reference', await failureOf(() => store.send(`${customer}-2`)));
  see('an invalid input', await failureOf(() => store.create({ ...order, currency: customer })));
  const { merchantPaymentReference } = order;
  const mark = (seen: unknown, listedAt: unknown = new Date()) =>
    store.markNotCreated({ merchantPaymentReference, attempts: seen, listedAt } as never);
  const further = { ...order, merchantPaymentReference: `${customer}-3` };
  const replaces = { replaces: merchantPaymentReference };
  see('an attempt too early', await failureOf(() => store.create(further, replaces)));
  see('a decision too early', await failureOf(() => mark(attempts)));
  see('a decision about other attempts', await failureOf(() => mark(0)));
  see('invalid attempts', await failureOf(() => mark(customer)));
  see('an invalid time', await failureOf(() => mark(attempts, customer)));
  const found = (referenceNumber: string) => ({ referenceNumber });
  await store.markCreated(merchantPaymentReference, found('first'));
  see('a state', await failureOf(() => store.markCreated(merchantPaymentReference, found('x'))));
  see('the store after its use', store);
}

const recordOf = (referenceNumber: string) => ({
  ...record,
  merchantPaymentReference: order.merchantPaymentReference,
  referenceNumber,
});

/** A callback for a second payment of one reference. */
export async function tellOfSecond<Tx>(see: See, store: PaymentStore<Tx>): Promise<void> {
  const receiver = createCallbackReceiver<Tx>({
    now,
    signingSecret: signingText,
    store,
    onPayment: () => {},
    onError: (error) => see('what onError receives', error),
  });
  for (const referenceNumber of ['first', 'second']) {
    const rawBody = JSON.stringify(recordOf(referenceNumber));
    const reply = await receiver.receive({ method: 'POST', ...signed(signingText, { rawBody }) });
    see('the reply', reply);
  }
}
