import type {
  ControlDelivery,
  ControlPayment,
  ControlPaymentDetail,
  ControlPaymentPage,
} from '../../mock-server/control/control-types.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { defineCommand, text } from '../command.js';
import {
  CALLBACK_TIMEOUT_MS,
  connectToMock,
  findPayment,
  mockUrlOption,
  PAYMENT_WORD,
} from '../control-client.js';
import { describeDelivery } from '../delivery-text.js';
import { type Column, fieldLines, timeOfDay } from '../layout.js';
import { limitOption, showPage } from '../shared-options.js';

const columns: readonly Column<ControlPayment>[] = [
  {
    title: 'CREATED',
    text: ({ createdAt }) => createdAt,
    short: ({ createdAt }) => timeOfDay(createdAt),
  },
  { title: 'REFERENCE NUMBER', text: ({ referenceNumber }) => referenceNumber },
  { title: 'MERCHANT REFERENCE', text: (payment) => payment.merchantPaymentReference },
  { title: 'STATUS', text: ({ status }) => status, style: () => 'cyan' },
  { title: 'AMOUNT', text: ({ amount }) => String(amount), align: 'right' },
  { title: 'CURRENCY', text: ({ currency }) => currency },
];

export const list = defineCommand({
  name: 'payments list',
  summary: 'Lists the payments of the running mock, newest first.',
  options: {
    search: text({
      value: 'text',
      help: 'Shows only payments with this text in a reference or the status; case is ignored.',
    }),
    limit: limitOption,
    'mock-url': mockUrlOption,
  },
  examples: [
    'merchant-payments payments list',
    'merchant-payments payments list --search order-1 --limit 5',
    'merchant-payments payments list --json',
  ],
  async run(call) {
    const { limit, search } = call.options;
    const page = await connectToMock(call).call<ControlPaymentPage>({
      path: ['payments'],
      query: { limit, search },
    });
    return showPage(page, page.payments, {
      columns,
      none: 'no payments, or none that match',
    });
  },
});

export const show = defineCommand({
  name: 'payments show',
  summary: 'Shows a payment of the running mock: its fields, statuses and callbacks.',
  positionals: ['payment'],
  options: { 'mock-url': mockUrlOption },
  details: [PAYMENT_WORD],
  examples: [
    'merchant-payments payments show order-1',
    'merchant-payments payments show 4f2a --json',
  ],
  async run(call) {
    const client = connectToMock(call);
    const { referenceNumber } = await findPayment(client, call.words[0] ?? '');
    const detail = await client.call<ControlPaymentDetail>({ path: ['payments', referenceNumber] });
    const { payment, deliveries } = detail;
    return {
      json: detail,
      lines: ({ paint }) => [
        `payment ${plainText(referenceNumber)}`,
        ...fieldLines({
          'merchant reference': payment.merchantPaymentReference,
          'provider reference': payment.providerReference,
          amount: `${payment.amount} ${payment.currency}`,
          ...Object.fromEntries(
            Object.entries(payment.extra).map(([name, value]) => [
              plainText(name),
              plainJson(value),
            ]),
          ),
        }),
        ...payment.history.map(({ status, at }) => `${plainText(at)}  ${plainText(status)}`),
        ...deliveries.flatMap((delivery) => describeDelivery(delivery, paint)),
      ],
    };
  },
});

export const setStatus = defineCommand({
  name: 'payments set-status',
  summary: 'Sets the status of a payment of the running mock, which then sends the callback.',
  positionals: ['reference-number', 'status'],
  options: { 'mock-url': mockUrlOption },
  details: [
    `${PAYMENT_WORD} Any status may follow any other.`,
    '',
    'Waits for the answer of the endpoint, and prints it. The exit code is 0 if the status was set, whatever the endpoint answered.',
  ],
  examples: [
    'merchant-payments payments set-status order-1 paid',
    'merchant-payments payments set-status 4f2a paid --json',
  ],
  async run(call) {
    const [word = '', status] = call.words;
    const client = connectToMock(call);
    const { referenceNumber, merchantPaymentReference } = await findPayment(client, word);
    const delivery = await client.call<ControlDelivery>({
      method: 'POST',
      path: ['payments', referenceNumber, 'status'],
      body: { status },
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
    const payment = `payment ${plainText(referenceNumber)} (${plainText(merchantPaymentReference)})`;
    const changed = `${payment} is ${plainText(delivery.status)}`;
    return {
      json: delivery,
      lines: ({ paint }) => [changed, ...describeDelivery(delivery, paint)],
    };
  },
});
