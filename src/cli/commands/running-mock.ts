import type {
  ControlDelivery,
  ControlPaymentDetail,
  ControlSettings,
} from '../../mock-server/control/control-types.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { defineCommand } from '../command.js';
import { connectToMock, mockUrlOption, PAYMENT_WORD } from '../control-client.js';
import { callbackLine, deliveryLines, requestLine } from '../event-lines.js';
import { fieldLines, formatTime } from '../layout.js';
import { formatDuration, parseDuration } from '../option-values.js';
import type { Paint } from '../terminal.js';

export const showPayment = defineCommand({
  summary: 'Shows a payment, its requests, statuses and callbacks.',
  positionals: ['payment'],
  options: { 'mock-url': mockUrlOption },
  details: [PAYMENT_WORD],
  examples: ['merchant-payments payments show order-1'],
  async run(call) {
    const [word = ''] = call.words;
    const detail = await connectToMock(call).get<ControlPaymentDetail>(['payments', word]);
    const { payment, others } = detail;
    const extra = Object.entries(payment.extra);
    return {
      json: detail,
      lines: ({ paint }) => [
        plainText(`${payment.merchantPaymentReference} is ${payment.status}`),
        ...fieldLines({
          amount: `${payment.amount} ${payment.currency}`,
          referenceNumber: payment.referenceNumber,
          providerReference: payment.providerReference,
          ...Object.fromEntries(extra.map(([name, value]) => [plainText(name), plainJson(value)])),
        }),
        ...others.map((other) =>
          paint(
            'red',
            plainText(`  another payment of this order: ${other.referenceNumber}, ${other.status}`),
          ),
        ),
        ...storyOf(detail, paint),
      ],
    };
  },
});

/** What happened to a payment, oldest first. */
function storyOf({ payment, deliveries, requests }: ControlPaymentDetail, paint: Paint): string[] {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  return [
    ...requests.map((one) => ({ at: one.at, line: requestLine(one, paint) })),
    ...payment.history.map(({ at, status }) => ({ at, line: `· ${plainText(status)}` })),
    ...attempts.map((one) => ({ at: one.sentAt, line: callbackLine(one, paint) })),
  ]
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
    .map(({ at, line }) => `${formatTime(at)}  ${line}`);
}

export const setStatus = defineCommand({
  summary: 'Sets a status, and waits for the answer to its callback.',
  positionals: ['payment', 'status'],
  options: { 'mock-url': mockUrlOption },
  details: [
    `${PAYMENT_WORD} Any status may follow any other. The exit code is 0 if the status was set, whatever the endpoint answered.`,
  ],
  examples: [
    'merchant-payments payments set-status order-1 paid',
    'merchant-payments payments set-status order-1 refunded --json',
  ],
  async run(call) {
    const [word = '', status] = call.words;
    const client = connectToMock(call);
    const delivery = await client.post<ControlDelivery>(['payments', word, 'status'], { status });
    return {
      json: delivery,
      lines: ({ paint }) => [
        plainText(`${word} is ${delivery.status}`),
        ...deliveryLines(delivery, paint),
      ],
    };
  },
});

export const resend = defineCommand({
  summary: 'Sends a callback again.',
  positionals: ['id|payment'],
  options: { 'mock-url': mockUrlOption },
  details: [
    'Given the id of a delivery or of an attempt, it sends the callback of exactly that change, even if the change is not the newest. Given a payment, named as for payments show, it sends the callback of the current status. The exit code is 0 if the callback was sent, whatever the endpoint answered.',
  ],
  examples: ['merchant-payments deliveries resend order-1'],
  async run(call) {
    const [word = ''] = call.words;
    const client = connectToMock(call);
    const sent = await client.post<ControlDelivery>(['deliveries', word, 'resend'], {});
    return { json: sent, lines: ({ paint }) => deliveryLines(sent, paint) };
  },
});

/** A century. */
const LONGEST_ADVANCE_MS = 36_525 * 86_400_000;

export const advance = defineCommand({
  summary: 'Advances the clock, so that retries and delays fall due.',
  positionals: ['duration'],
  options: { 'mock-url': mockUrlOption },
  details: [
    'A duration is a number with its unit: 500ms, 90s, 10m, 1h, 2d. The command ends when every retry that fell due has been answered; deliveries list shows them. Callbacks are still signed with the real time.',
  ],
  examples: ['merchant-payments clock advance 1h', 'merchant-payments clock advance 90s --json'],
  async run(call) {
    const ms = parseDuration('<duration>', call.words[0] ?? '', LONGEST_ADVANCE_MS);
    const state = await connectToMock(call).post<ControlSettings>(['clock', 'advance'], { ms });
    const line = `the mock's clock moved ahead by ${formatDuration(ms)}, to ${formatTime(state.now)}`;
    return { json: state, lines: () => [line] };
  },
});

export const reset = defineCommand({
  summary: 'Removes everything but the settings and the time.',
  options: { 'mock-url': mockUrlOption },
  details: ['In a mock that was started with --seed, identifiers start over.'],
  examples: ['merchant-payments reset'],
  async run(call) {
    const state = await connectToMock(call).post<ControlSettings>(['reset'], {});
    return { json: state, lines: () => ['the mock was reset'] };
  },
});
