import type {
  ControlAttempt,
  ControlAttemptPage,
  ControlDelivery,
} from '../../mock-server/control/control-types.js';
import { defineCommand, text } from '../command.js';
import {
  CALLBACK_TIMEOUT_MS,
  type ControlClient,
  ControlRefusal,
  connectToMock,
  findPayment,
  mockUrlOption,
} from '../control-client.js';
import { describeDelivery, outcomeStyle } from '../delivery-text.js';
import {
  callbackFaultOptions,
  describeFaults,
  readCallbackFault,
  toFaultUsageError,
} from '../faults.js';
import { type Column, timeOfDay } from '../layout.js';
import { limitOption, showPage } from '../shared-options.js';

const columns: readonly Column<ControlAttempt>[] = [
  { title: 'TIME', text: ({ sentAt }) => sentAt, short: ({ sentAt }) => timeOfDay(sentAt) },
  { title: 'PAYMENT', text: ({ referenceNumber }) => referenceNumber },
  { title: 'STATUS', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'ATTEMPT',
    text: ({ attempt, copy }) => (copy > 0 ? `${attempt} copy ${copy}` : String(attempt)),
    align: 'right',
  },
  {
    title: 'OUTCOME',
    text: ({ outcome }) => outcome,
    style: ({ outcome }) => outcomeStyle(outcome),
  },
  {
    title: 'HTTP',
    text: ({ response, errorCode }) =>
      response === undefined ? (errorCode ?? '') : String(response.status),
  },
  { title: 'MS', text: ({ latencyMs }) => latencyMs.toFixed(0), align: 'right' },
  { title: 'FAULT', text: ({ fault }) => fault ?? '' },
  {
    title: 'NEXT RETRY',
    text: ({ nextRetryAt }) => nextRetryAt ?? '',
    short: ({ nextRetryAt }) => (nextRetryAt === undefined ? '' : timeOfDay(nextRetryAt)),
  },
  { title: 'ID', text: ({ id }) => id },
];

export const list = defineCommand({
  name: 'deliveries list',
  summary: 'Lists the callbacks that the running mock sent, newest first.',
  options: {
    payment: text({
      value: 'reference',
      help: "Shows only callbacks of this payment: its reference number, the beginning of it, or the merchant's own reference.",
    }),
    limit: limitOption,
    'mock-url': mockUrlOption,
  },
  examples: [
    'merchant-payments deliveries list',
    'merchant-payments deliveries list --payment order-1 --json',
  ],
  async run(call) {
    const { limit, payment } = call.options;
    const client = connectToMock(call);
    const found = payment === undefined ? undefined : await findPayment(client, payment);
    const page = await client.call<ControlAttemptPage>({
      path: ['deliveries'],
      query: { limit, referenceNumber: found?.referenceNumber },
    });
    return showPage(page, page.attempts, {
      columns,
      none: 'no callbacks sent yet, or none that match',
    });
  },
});

export const resend = defineCommand({
  name: 'deliveries resend',
  summary: 'Makes the running mock send a callback again.',
  positionals: ['id|payment'],
  options: {
    ...callbackFaultOptions(
      'The fault of its first attempt, whatever faults are pending. Default: none',
    ),
    'mock-url': mockUrlOption,
  },
  details: [
    "Given the id of a delivery or of an attempt, or the beginning of an attempt's id, it sends the callback of exactly that change, even if the change is not the newest. Given a payment, named as for payments set-status, it sends the callback of the current status.",
    '',
    'The exit code is 0 if the callback was sent, whatever the endpoint answered.',
    '',
    'Faults and their fields:',
    ...describeFaults('callback'),
  ],
  examples: [
    'merchant-payments deliveries resend order-1',
    'merchant-payments deliveries resend order-1 --fault stale-timestamp --set bySeconds=3600',
  ],
  async run(call) {
    const fault = readCallbackFault(call.options);
    const [word = ''] = call.words;
    const delivery = await sendAgain(connectToMock(call), word, { fault }).catch((error) => {
      throw fault === undefined ? error : toFaultUsageError(error, 'flags');
    });
    return { json: delivery, lines: ({ paint }) => describeDelivery(delivery, paint) };
  },
});

async function sendAgain(
  client: ControlClient,
  word: string,
  body: object,
): Promise<ControlDelivery> {
  const post = (...path: readonly string[]) =>
    client.call<ControlDelivery>({
      method: 'POST',
      path: [...path, 'resend'],
      body,
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
  try {
    return await post('deliveries', word);
  } catch (error) {
    if (!(error instanceof ControlRefusal && error.code === 'NOT_FOUND')) throw error;
  }
  const id = await findAttempt(client, word);
  if (id !== undefined) return post('deliveries', id);
  const { referenceNumber } = await findPayment(client, word);
  return post('payments', referenceNumber);
}

/** As much of an id as the narrowest table shows. A shorter word may be the beginning of a payment's number. */
const MIN_ID_LENGTH = 7;

/** Finds the only attempt whose id begins with a word. */
async function findAttempt(client: ControlClient, word: string): Promise<string | undefined> {
  if (word.length < MIN_ID_LENGTH) return undefined;
  const { attempts } = await client.call<ControlAttemptPage>({
    path: ['deliveries'],
    query: { limit: 1_000 },
  });
  const [found, other] = attempts.filter(({ id }) => id.startsWith(word));
  return other === undefined ? found?.id : undefined;
}
