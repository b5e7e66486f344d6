import type {
  ControlAttempt,
  ControlAttemptPage,
  ControlCallback,
  ControlCallbackPage,
  ControlPayment,
  ControlPaymentDetail,
  ControlPaymentPage,
  ControlRequest,
  ControlRequestPage,
} from '../../mock-server/control/control-types.js';
import { type Call, defineCommand, flag, type Outcome, text, withDefault } from '../command.js';
import { type ControlClient, connectToMock, mockUrlOption } from '../control-client.js';
import { answerOf, creationIn, outcomeStyle } from '../event-lines.js';
import { type Column, formatTable, formatTime } from '../layout.js';
import { oneOf, wholeNumber } from '../option-values.js';

const MOST = 1_000;

const listOptions = {
  limit: withDefault(
    wholeNumber(
      { value: 'n', help: `The number of entries to show, 1 to ${MOST}. Default: 100` },
      { min: 1, max: MOST },
    ),
    100,
  ),
  wide: flag('Shows the ids too.'),
  'mock-url': mockUrlOption,
};

type ListCall = Call<typeof listOptions>;

/** Shows the rows of a page as a table; the note says how many there are in all. */
function showPage<Row>(
  page: { readonly total: number },
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { options }: ListCall,
): Outcome {
  const shown = columns.filter(({ isWide }) => !isWide || options.wide);
  if (rows.length === 0) return { json: page, note: 'nothing found' };
  return {
    json: page,
    lines: (layout) => formatTable(shown, rows, layout),
    note: page.total > rows.length ? `${rows.length} of ${page.total} shown` : undefined,
  };
}

const reference = {
  title: 'merchantPaymentReference',
  text: (row: { readonly merchantPaymentReference?: string | undefined }) =>
    row.merchantPaymentReference ?? '',
};
const referenceNumber = {
  title: 'referenceNumber',
  text: (row: { readonly referenceNumber?: string | undefined }) => row.referenceNumber ?? '',
  isWide: true,
} as const;

interface PaymentRow extends ControlPayment {
  /** That of its last change. */
  readonly callback: ControlCallback | undefined;
}

const paymentColumns: readonly Column<PaymentRow>[] = [
  reference,
  { title: 'created', text: ({ createdAt }) => formatTime(createdAt) },
  { title: 'amount', text: ({ amount, currency }) => `${amount} ${currency}`, align: 'right' },
  { title: 'status', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'callback',
    text: ({ callback }) => (callback?.last ? answerOf(callback.last) : (callback?.state ?? '')),
    style: ({ callback }) => outcomeStyle(callback?.last?.outcome ?? 'dropped'),
  },
  {
    title: 'note',
    text: ({ secondOf }) => (secondOf === undefined ? '' : 'second payment'),
    style: () => 'red',
  },
  referenceNumber,
];

export const listPayments = defineCommand({
  summary: 'Lists payments, newest first.',
  options: {
    search: text({
      value: 'text',
      help: 'Shows only payments with this text in a reference or the status; case is ignored.',
    }),
    ...listOptions,
  },
  details: ['A second payment for one merchantPaymentReference has a note.'],
  examples: [
    'merchant-payments payments list',
    'merchant-payments payments list --search order-1 --wide',
  ],
  async run(call) {
    const { limit, search } = call.options;
    const client = connectToMock(call);
    const page = await client.get<ControlPaymentPage>(['payments'], { limit, search });
    const callbacks = await lastCallbacks(client);
    const rows = page.payments.map((one) => ({
      ...one,
      callback: callbacks.get(one.referenceNumber),
    }));
    return showPage(page, rows, paymentColumns, call);
  },
});

/** Returns the callback of each payment's last change, of those that the mock lists. */
async function lastCallbacks(client: ControlClient): Promise<Map<string, ControlCallback>> {
  const { callbacks } = await client.get<ControlCallbackPage>(['callbacks'], { limit: MOST });
  const sorted = callbacks.toSorted(
    (one, other) =>
      Date.parse(one.updatedAt) - Date.parse(other.updatedAt) || sentAtMs(one) - sentAtMs(other),
  );
  return new Map(sorted.map((one) => [one.referenceNumber, one]));
}

const sentAtMs = ({ last }: ControlCallback): number => Date.parse(last?.sentAt ?? '') || 0;

const attemptColumns: readonly Column<ControlAttempt>[] = [
  reference,
  { title: 'time', text: ({ sentAt }) => formatTime(sentAt) },
  { title: 'status', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'try',
    text: ({ attempt, copy }) => (copy > 0 ? `${attempt} copy ${copy}` : String(attempt)),
    align: 'right',
  },
  { title: 'answer', text: answerOf, style: ({ outcome }) => outcomeStyle(outcome) },
  { title: 'ms', text: ({ latencyMs }) => latencyMs.toFixed(0), align: 'right' },
  { title: 'fault', text: ({ fault }) => fault ?? '', style: () => 'yellow' },
  {
    title: 'retry at',
    text: ({ nextRetryAt }) => (nextRetryAt === undefined ? '' : formatTime(nextRetryAt)),
  },
  referenceNumber,
  { title: 'id', text: ({ id }) => id, isWide: true },
];

export const listDeliveries = defineCommand({
  summary: 'Lists the callbacks that were sent, newest first.',
  options: {
    payment: text({
      value: 'payment',
      help: 'Shows only callbacks of this payment, named as for payments show.',
    }),
    outcome: oneOf('Shows only callbacks that ended like this.', [
      'acknowledged',
      'refused',
      'failed',
      'timed-out',
      'dropped',
    ]),
    ...listOptions,
  },
  examples: [
    'merchant-payments deliveries list --payment order-1',
    'merchant-payments deliveries list --outcome refused --json',
  ],
  async run(call) {
    const { limit, payment, outcome } = call.options;
    const client = connectToMock(call);
    const of =
      payment === undefined
        ? undefined
        : await client.get<ControlPaymentDetail>(['payments', payment]);
    const page = await client.get<ControlAttemptPage>(['deliveries'], {
      limit,
      outcome,
      referenceNumber: of?.payment.referenceNumber,
    });
    return showPage(page, page.attempts, attemptColumns, call);
  },
});

const requestColumns: readonly Column<ControlRequest>[] = [
  reference,
  { title: 'time', text: ({ at }) => formatTime(at) },
  { title: 'request', text: ({ method, path }) => `${method} ${path}` },
  { title: 'amount', text: ({ body }) => creationIn(body).price ?? '', align: 'right' },
  {
    title: 'answer',
    text: ({ status, outcome }) => String(status ?? outcome),
    style: ({ outcome }) => (outcome === 'accepted' ? 'green' : 'red'),
  },
  { title: 'fault', text: ({ fault }) => fault ?? '', style: () => 'yellow' },
  { title: 'requestId', text: ({ requestId }) => requestId, isWide: true },
  referenceNumber,
];

export const listRequests = defineCommand({
  summary: 'Lists the requests of your code, newest first.',
  options: {
    search: text({ value: 'text', help: 'Shows only requests with this text.' }),
    outcome: oneOf('Shows only requests that ended like this.', [
      'accepted',
      'refused',
      'lost',
      'waiting',
    ]),
    ...listOptions,
  },
  details: ['The answer of a lost request did not reach your code.'],
  examples: ['merchant-payments requests list --outcome lost'],
  async run(call) {
    const { limit, search, outcome } = call.options;
    const page = await connectToMock(call).get<ControlRequestPage>(['requests'], {
      limit,
      search,
      outcome,
    });
    return showPage(page, page.requests, requestColumns, call);
  },
});
