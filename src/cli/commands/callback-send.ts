import type { CallbackFault, DeliveryAttempt, MockService } from 'merchant-payments/mock-server';
import { isForged } from '../../mock-server/callbacks/answer-hints.js';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { type Call, defineCommand, list, text, UsageError, withDefault } from '../command.js';
import { callbackLine } from '../event-lines.js';
import {
  parseHttpUrl,
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
  wholeNumber,
} from '../option-values.js';
import { describeFaults, readFaultType } from './faults.js';

const options = {
  reference: text({ value: 'text', help: "The merchant's own reference. Default: a random one" }),
  status: text({ value: 'status', help: 'The status. Default: paid' }),
  fault: text({
    value: 'type',
    help: 'The fault of the callback, one of those below. Default: none',
  }),
  set: list({ value: 'field=value', help: 'A field of the fault, such as copies=3.' }),
  'signing-secret': signingSecretOption,
  'signature-encoding': signatureEncodingOption,
  timeout: withDefault(
    wholeNumber(
      { value: 'ms', help: 'The time limit for each answer, in milliseconds. Default: 10000' },
      { min: 1, max: LONGEST_TIMER_MS },
    ),
    10_000,
  ),
};

export const send = defineCommand({
  summary: 'Sends a signed callback, valid or with a fault.',
  positionals: ['callback-url'],
  options,
  details: [
    'Faults and their fields:',
    ...describeFaults('callback'),
    '',
    'With drop, the callback arrives with the retry; with reorder, an older change to pending follows the given one.',
    '',
    'Succeeds if the endpoint answers each valid callback with 2xx, or with 503 and Retry-After as for an order that it does not know yet, and each invalid one with 4xx. Of copies sent at once, all but one may be answered 503. --json shows what was sent.',
  ],
  examples: [
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --reference order-1',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault wrong-secret',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault duplicate --set mode=at-once --set copies=4',
  ],
  async run(call) {
    const url = parseHttpUrl('<callback-url>', call.words[0] ?? '');
    const { fault: type, set } = call.options;
    if (type === undefined && set.length > 0) {
      throw new UsageError('--set sets a field of a fault: give --fault too');
    }
    const fault =
      type === undefined ? undefined : (readFaultType('callback', type, set) as CallbackFault);
    const signingSecret = requireSigningSecret(call.options['signing-secret'], call.terminal);
    const sent = await sendCallback(call, { url, fault, signingSecret });
    const compared = compareAnswers(sent);
    const failure = describeFailure(compared);
    return {
      json: { isAsExpected: failure === undefined, sent: compared.map(toJsonSent) },
      lines: ({ paint }) => [
        ...sent.map((one) => callbackLine(one, paint)),
        ...(failure === undefined ? [describeSuccess(compared)] : []),
      ],
      failure,
    };
  },
});

interface Sending {
  readonly url: URL;
  readonly fault: CallbackFault | undefined;
  readonly signingSecret: string;
}

/** Sends the callback by a mock service in this process, with the same faults as the mock's. */
async function sendCallback(
  { options: given }: Call<typeof options>,
  { url, fault, signingSecret }: Sending,
): Promise<readonly DeliveryAttempt[]> {
  const { createMockService } = await import('merchant-payments/mock-server');
  await using service = createMockService({
    callbackUrl: url.href,
    signingSecret,
    signatureEncoding: given['signature-encoding'],
    callbackTimeoutMs: given.timeout,
    // Only a dropped callback is retried.
    retryScheduleMs: fault?.type === 'drop' ? [0] : [],
  });
  const referenceNumber = await createPayment(service, given.reference);
  // On the first attempt only: the retry of a dropped attempt must arrive.
  if (fault) service.faults.add({ ...fault, match: { referenceNumber, attempt: 1 } });
  if (fault?.type === 'reorder') await service.setStatus(referenceNumber, 'pending');
  await service.setStatus(referenceNumber, given.status ?? 'paid');
  const timeoutMs = Math.min(given.timeout + 5_000, LONGEST_TIMER_MS);
  const attempt = fault?.type === 'drop' ? 2 : 1;
  await service.waitForDelivery({ referenceNumber, attempt }, { timeoutMs });
  return [...service.deliveries];
}

async function createPayment(service: MockService, reference?: string): Promise<string> {
  const merchantPaymentReference = reference ?? `order-${crypto.randomUUID()}`;
  await service.fetch(
    new Request('http://mock.invalid/api/payments', {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa('any:credentials')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ merchantPaymentReference, amount: 100, currency: 'EUR' }),
    }),
  );
  const [payment] = service.payments.list();
  if (payment !== undefined) return payment.referenceNumber;
  throw new UsageError('the mock did not accept --reference as the reference of a payment');
}

/** A callback, what the endpoint should have done with it, and whether it did. */
interface SentCallback {
  readonly sent: DeliveryAttempt;
  /** `nothing` when no callback was sent. */
  readonly expected: 'accepted' | 'refused' | 'nothing';
  readonly isAsExpected: boolean;
}

/** A valid callback must be answered with 2xx, or with 503 and Retry-After, a forged one with 4xx. */
export const compareAnswers = (all: readonly DeliveryAttempt[]): readonly SentCallback[] =>
  all.map((sent) => {
    if (sent.outcome === 'dropped') return { sent, expected: 'nothing', isAsExpected: true };
    if (isForged(sent)) return { sent, expected: 'refused', isAsExpected: isRefused(sent) };
    return {
      sent,
      expected: 'accepted',
      isAsExpected: isAccepted(sent) || asksForRetry(sent, all),
    };
  });

/** A 503 asks for a retry: of a callback whose order is not stored, or of a copy while another is processed. */
const asksForRetry = (sent: DeliveryAttempt, all: readonly DeliveryAttempt[]): boolean =>
  sent.response?.status === 503 &&
  (sent.response.retryAfter !== undefined ||
    all.some((other) => isCopy(other, sent) && isAccepted(other)));

const isAccepted = (sent: DeliveryAttempt): boolean => sent.outcome === 'acknowledged';

// A rate limit is not a refusal of this callback.
const isRefused = ({ response: { status } = { status: 0, body: '' } }: DeliveryAttempt): boolean =>
  status >= 400 && status < 500 && status !== 429;

const isCopy = (one: DeliveryAttempt, other: DeliveryAttempt): boolean =>
  one.headers['x-signature'] === other.headers['x-signature'];

const toJsonSent = ({ sent, ...compared }: SentCallback): object => ({
  ...sent,
  rawBody: new TextDecoder().decode(sent.rawBody),
  ...compared,
});

const MUST_BE = {
  refused: 'a forged callback must be refused with 4xx, preferably 401',
  accepted: 'a valid callback must be accepted with 2xx, or answered with 503 and Retry-After',
  nothing: '',
};

/** Says in one line what went wrong; `undefined` if nothing did. */
export function describeFailure(all: readonly SentCallback[]): string | undefined {
  const [first, ...others] = all.filter(({ isAsExpected }) => !isAsExpected);
  if (first === undefined) return undefined;
  const { outcome, response, errorCode } = first.sent;
  const seen = response
    ? `answered ${response.status}`
    : `did not answer (${errorCode ?? outcome})`;
  const more = others.length > 0 ? `, and ${others.length} more answers were not as expected` : '';
  return `the endpoint ${seen}, but ${MUST_BE[first.expected]}${more}; merchant-payments check finds the cause`;
}

/** Says how it went when nothing went wrong. */
export function describeSuccess(all: readonly SentCallback[]): string {
  const isAsked = all.some(({ sent }) => sent.response?.retryAfter !== undefined);
  return isAsked
    ? 'the endpoint asks for a retry, which is right if it does not know the order yet; give the --reference of a stored order to see it accepted'
    : 'the endpoint answered as expected';
}
