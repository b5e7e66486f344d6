import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineCommand } from '../command.js';
import { EventLog } from '../event-lines.js';
import { createPaint, printLine, type Terminal } from '../terminal.js';

const NEXT = [
  ['npx merchant-payments mock', 'the mock, with a dashboard, for your own code'],
  ['npx merchant-payments check <url>', 'what your callback endpoint gets wrong'],
  ['npx merchant-payments help', 'everything else'],
];

export const demo = defineCommand({
  summary: 'Shows an order from checkout to paid.',
  options: {},
  details: [
    'Runs a mock of the service, and a shop with a callback endpoint, on free ports of this machine. It needs no account, no database and no network, and leaves nothing behind.',
  ],
  examples: ['merchant-payments demo'],
  async run({ terminal, options }) {
    const lines: string[] = [];
    const say = (line: string) => {
      lines.push(line);
      if (!options.json) printLine(terminal, line);
    };
    const counts = await tell(say, terminal);
    say(
      `\n${counts.requests} request, ${counts.payments} payment, ${counts.parcels} parcel. Try next:`,
    );
    for (const [command = '', what = ''] of NEXT) say(`  ${command.padEnd(36)}${what}`);
    return { json: { ...counts, lines } };
  },
});

async function tell(say: (line: string) => void, { stdout, env }: Terminal) {
  const { startMockServer } = await import('merchant-payments/mock-server');
  const { PaymentClient } = await import('merchant-payments');
  const { callbackHandler } = await import('merchant-payments/node');
  const { memoryStore } = await import('merchant-payments/store');
  const paint = createPaint(stdout, env);
  const tellOf = (who: 'service' | 'shop', what: string) => say(`   ${who.padEnd(9)}${what}`);

  await using mock = await startMockServer({ retryScheduleMs: [100] });
  const log = new EventLog(paint);
  const unsubscribe = mock.subscribe((event) => {
    const text = log.describe(event);
    if (text !== undefined) tellOf('service', text);
  });

  const { url: baseUrl, apiKey, apiSecret, signingSecret } = mock;
  await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const store = memoryStore({ client });
  let parcels = 0;
  const shop = createServer(
    callbackHandler({
      signingSecret,
      store,
      onPayment({ payment }) {
        const said = `${payment.merchantPaymentReference} is ${payment.status}`;
        tellOf('shop', paint('green', said));
        parcels += 1;
      },
      onRejected: ({ code }) => tellOf('shop', `refuses it with ${code}`),
    }),
  );
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  mock.callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks/payments`;

  let step = 0;
  const begin = (title: string) => {
    step += 1;
    say(`\n${step}. ${title}`);
  };
  const click = async () => {
    const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };
    const { state, replayed } = await store.create(order);
    tellOf('shop', `${replayed ? 'sends nothing' : 'got no answer'}, its payment is ${state}`);
  };
  say('A shop and a mock of the Merchant Payment Service, on this machine.');
  begin('The customer clicks "Pay". The payment is created, and the answer gets lost.');
  mock.faults.add({ on: 'request', type: 'lost-answer' });
  await click();
  begin('The customer clicks again. A payment may exist, so the shop creates no other.');
  await click();
  begin('The customer pays. The service tells the shop by a signed callback.');
  await mock.pay('order-1');
  begin('A forged callback is refused. The genuine one follows, a duplicate that ships nothing.');
  mock.faults.add({ on: 'callback', type: 'wrong-secret' });
  await mock.resend('order-1');
  await mock.waitForDelivery({ attempt: 2, acknowledged: true });

  unsubscribe();
  shop.closeAllConnections();
  shop.close();
  return { requests: mock.requests.length, payments: mock.payments.list().length, parcels };
}
