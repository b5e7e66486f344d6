import type {
  ControlAttempt,
  ControlDelivery,
  ControlPayment,
  ControlRequest,
  ControlState,
} from '../../mock-server/control/control-types.js';
import { type Call, defineCommand, flag, type Outcome, text, withDefault } from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import { answerOf, attemptStyle, creationIn } from '../event-lines.js';
import { type Column, formatTable, formatTime } from '../layout.js';
import { oneOf, wholeNumber } from '../option-values.js';

/** How many of each kind the mock's state has. */
const MOST = 200;

const listOptions = {
  search: text({
    value: 'text',
    help: 'Shows only entries with this text, in bodies too; case is ignored.',
  }),
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

const readState = (call: ListCall): Promise<ControlState> =>
  connectToMock(call).get<ControlState>(['state']);

/** Shows the newest rows that match as a table; the note says how many there are in all. */
function showRows<Row>(
  name: string,
  all: readonly Row[],
  columns: readonly Column<Row>[],
  { options: { search = '', limit, wide } }: ListCall,
): Outcome {
  const found = all.filter((row) => contains(row, search.toLowerCase()));
  const rows = found.slice(0, limit);
  const shown = columns.filter(({ isWide }) => !isWide || wide);
  const json = { [name]: rows, total: found.length };
  if (rows.length === 0) return { json, note: 'nothing found' };
  return {
    json,
    lines: (layout) => formatTable(shown, rows, layout),
    note: found.length > rows.length ? `${rows.length} of ${found.length} shown` : undefined,
  };
}

/** Whether a text is in a value of the row, at any depth. */
const contains = (value: unknown, text: string): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some((one) => contains(one, text))
    : String(value).toLowerCase().includes(text);

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
  /** The newest. */
  readonly callback: ControlDelivery | undefined;
}

const paymentColumns: readonly Column<PaymentRow>[] = [
  reference,
  { title: 'created', text: ({ createdAt }) => formatTime(createdAt) },
  { title: 'amount', text: ({ amount, currency }) => `${amount} ${currency}`, align: 'right' },
  { title: 'status', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'callback',
    text: ({ callback }) => {
      const last = callback?.attempts.at(-1);
      return last ? answerOf(last) : (callback?.state ?? '');
    },
    style: ({ callback }) => attemptStyle(callback?.attempts.at(-1)),
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
  options: listOptions,
  details: ['A second payment for one merchantPaymentReference has a note.'],
  examples: [
    'merchant-payments payments list',
    'merchant-payments payments list --search order-1 --wide',
  ],
  async run(call) {
    const { payments, deliveries } = await readState(call);
    const rows = payments.map((one) => ({
      ...one,
      callback: deliveries.find((other) => other.referenceNumber === one.referenceNumber),
    }));
    return showRows('payments', rows, paymentColumns, call);
  },
});

const attemptColumns: readonly Column<ControlAttempt>[] = [
  reference,
  { title: 'time', text: ({ sentAt }) => formatTime(sentAt) },
  { title: 'status', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'try',
    text: ({ attempt, copy }) => (copy > 0 ? `${attempt} copy ${copy}` : String(attempt)),
    align: 'right',
  },
  { title: 'answer', text: answerOf, style: attemptStyle },
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
      help: 'Shows only callbacks of this payment, by its referenceNumber or merchantPaymentReference.',
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
    const { payment, outcome } = call.options;
    const { payments, deliveries } = await readState(call);
    const isOfPayment = (one: ControlPayment | ControlDelivery | ControlAttempt): boolean =>
      [one.referenceNumber, one.merchantPaymentReference].includes(payment ?? '');
    if (payment !== undefined && ![...payments, ...deliveries].some(isOfPayment)) {
      throw new Error(
        `there is no payment "${payment}" among the newest ${MOST} of the mock; payments list shows them`,
      );
    }
    const attempts = deliveries
      .flatMap((delivery) => delivery.attempts)
      .filter((one) => payment === undefined || isOfPayment(one))
      .filter((one) => outcome === undefined || one.outcome === outcome)
      .toSorted((one, other) => Date.parse(other.sentAt) - Date.parse(one.sentAt));
    return showRows('attempts', attempts, attemptColumns, call);
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
  { title: 'reason', text: ({ answerLine }) => answerLine ?? '' },
  { title: 'fault', text: ({ fault }) => fault ?? '', style: () => 'yellow' },
  { title: 'requestId', text: ({ requestId }) => requestId, isWide: true },
  referenceNumber,
];

export const listRequests = defineCommand({
  summary: 'Lists the requests of your code, newest first.',
  options: {
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
    const { outcome } = call.options;
    const { requests } = await readState(call);
    const asked = requests.filter((one) => outcome === undefined || one.outcome === outcome);
    return showRows('requests', asked, requestColumns, call);
  },
});
