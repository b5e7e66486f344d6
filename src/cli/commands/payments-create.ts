import type { PaymentClient, RequestOutcome, ServiceResponse } from 'merchant-payments';
import type { ControlPayment } from '../../mock-server/control/control-types.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import {
  type Call,
  defineCommand,
  list,
  type Outcome,
  parsed,
  required,
  text,
  UsageError,
} from '../command.js';
import {
  connectToMock,
  givenMockUrl,
  type MockCall,
  mockUrlOfServiceOption,
  noAnswer,
} from '../control-client.js';
import { withoutCredentials } from '../environment.js';
import { fieldLines } from '../layout.js';
import { parseCurrency, parseExactDecimal, readFields } from '../option-values.js';
import { printNote, type Terminal } from '../output.js';
import { interruptible } from '../process-signals.js';

const options = {
  reference: required(text({ value: 'text', help: "The merchant's own reference. Required." })),
  amount: required(
    parsed(
      {
        value: 'number',
        help: 'A decimal number such as 100 or 12.50, of at most 15 significant digits. Required.',
      },
      parseExactDecimal,
    ),
  ),
  currency: required(
    parsed({ value: 'code', help: 'Three capital letters. Required.' }, parseCurrency),
  ),
  field: list({
    value: 'name=value',
    help: 'An additional field of the request. The value is JSON, or text if it is not JSON.',
  }),
  'mock-url': mockUrlOfServiceOption,
};

export const create = defineCommand({
  name: 'payments create',
  summary: 'Creates a payment, in the running mock or at the service.',
  options,
  details: [
    'Creates the payment in the mock if --mock-url or MERCHANT_PAYMENTS_MOCK_URL is given; otherwise at the service if MERCHANT_PAYMENTS_BASE_URL is set, with MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET; otherwise in the mock at its default address. A .env file that --env-file does not name cannot select a service on another machine.',
    '',
    'For the mock this is a request like any other, so faults on requests apply to it.',
  ],
  examples: [
    'merchant-payments payments create --reference order-1 --amount 12.50 --currency EUR',
    `merchant-payments payments create --reference order-2 --amount 100 --currency EUR --field customer='{"id":7}' --json`,
  ],
  run: createPayment,
});

/** The flags of the fields that the interface names. */
const flagOfField = {
  merchantPaymentReference: '--reference',
  amount: '--amount',
  currency: '--currency',
};

/**
 * Creates a payment in the running mock, or at the service that the environment names.
 *
 * @throws {UsageError} when an environment variable is missing or invalid
 * @throws {Error} with a message of one line, which says whether the payment may exist
 */
async function createPayment(call: Call<typeof options>): Promise<Outcome> {
  const { options: given, terminal } = call;
  const { env } = terminal;
  const { reference: merchantPaymentReference, amount, currency } = given;
  if (merchantPaymentReference.trim() === '') throw new UsageError('--reference must not be blank');
  const input = { merchantPaymentReference, amount, currency };
  const extraBody = readFields('--field', given.field, { flagOfField });
  const isForService =
    givenMockUrl(call) === undefined && Boolean(env['MERCHANT_PAYMENTS_BASE_URL']);
  await using client = isForService ? await openClient(env) : await openMockClient(call);
  if (isForService) {
    printNote(terminal, `creating a payment at ${plainText(client.toJSON().baseUrl)}`);
  }
  const { payment, response } = await withOutcome(
    terminal,
    (signal) => client.payments.create(input, { extraBody, signal }),
    isForService ? undefined : noAnswer(connectToMock(call).base),
  );
  const address = isForService ? 'MERCHANT_PAYMENTS_BASE_URL' : 'the address of the mock';
  const body = readObject(response, address);
  // A server that is not the service may echo the request. The mock was sent no secret.
  const clean = (value: object) => (isForService ? withoutCredentials(value, env) : value);
  const answer = clean(body);
  const { referenceNumber } = body as { referenceNumber?: unknown };
  if (typeof referenceNumber === 'string' && referenceNumber.trim() !== '') {
    const shown = { ...clean(payment), ...input };
    return { json: answer, lines: () => describeCreated(shown) };
  }
  printNote(terminal, 'note: the answer has no reference number');
  const lines = [
    `the service accepted the payment with ${response.status}`,
    ...fieldLines({
      'merchant reference': input.merchantPaymentReference,
      amount: `${input.amount} ${input.currency}`,
      answer: plainJson(answer),
    }),
  ];
  return { json: answer, lines: () => lines };
}

/** Opens a client for the mock, which below `/_mock` accepts any credentials. */
async function openMockClient(call: MockCall): Promise<PaymentClient> {
  const { base } = connectToMock(call);
  const { PaymentClient } = await import('merchant-payments');
  return new PaymentClient({
    baseUrl: `${base}/_mock`,
    apiKey: 'any',
    apiSecret: 'any',
    // A retry would hide a fault.
    maxRetries: 0,
    // From a container, the mock is on another host. Nothing sent to it is secret.
    dangerouslyAllowHttp: true,
  });
}

const variableOfOption: Readonly<Record<string, string>> = {
  baseUrl: 'MERCHANT_PAYMENTS_BASE_URL',
  apiKey: 'MERCHANT_PAYMENTS_API_KEY',
  apiSecret: 'MERCHANT_PAYMENTS_API_SECRET',
};

async function openClient(env: Terminal['env']): Promise<PaymentClient> {
  const missing = Object.values(variableOfOption).find((variable) => !env[variable]);
  if (missing !== undefined) {
    throw new UsageError(
      `${missing} is not set, but MERCHANT_PAYMENTS_BASE_URL is: set both, or give --mock-url to use the mock`,
    );
  }
  const { InvalidOptionError, PaymentClient } = await import('merchant-payments');
  try {
    return PaymentClient.fromEnv({}, { ...env });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    const { option, message } = error;
    throw new UsageError(`${variableOfOption[option] ?? option}: ${message}`);
  }
}

const OUTCOMES: Readonly<Record<RequestOutcome, string>> = {
  'not-sent': 'Nothing was sent, so no payment was created',
  rejected: 'The service rejected the request, so no payment was created',
  accepted: 'The service accepted the request: the payment exists, do not create it again',
  unknown:
    'It is unknown whether the payment was created: look for it before you try again, because that can create a second payment',
};
const CONFLICT =
  'The service rejected this request, but an earlier one may have created the payment: look for it before you try again';

/**
 * Runs a creation that SIGINT and SIGTERM abort.
 *
 * @throws {Error} the error of the creation, with what its `requestOutcome` means for the payment; or
 * `absence`, if given, when there was no connection
 */
async function withOutcome<Result>(
  { signals }: Terminal,
  create: (signal: AbortSignal) => Promise<Result>,
  absence: string | undefined,
): Promise<Result> {
  try {
    return await interruptible(signals, create);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'requestOutcome' in error)) throw error;
    const isAbsent = error.code === 'CONNECTION_FAILED' && error.requestOutcome === 'not-sent';
    if (isAbsent && absence !== undefined) throw new Error(absence);
    const isConflict = 'httpStatus' in error && error.httpStatus === 409;
    const outcome = isConflict ? CONFLICT : OUTCOMES[error.requestOutcome as RequestOutcome];
    const code = 'serviceCode' in error ? error.serviceCode : error.code;
    throw new Error(`${String(code)}: ${error.message.replace(/\.$/, '')}. ${outcome}`);
  }
}

/**
 * Returns the JSON object of a successful answer. A 2xx alone proves little: any web page has it.
 *
 * @throws {Error} for anything else
 */
function readObject(response: ServiceResponse, address: string): object {
  const { status, body } = response;
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new Error(
    `the service answered ${status}, but not with a payment (${describeBody(response)}): check that ${address} is right; the payment may exist: look for it before you try again`,
  );
}

function describeBody({ body, headers }: ServiceResponse): string {
  if (body === '') return 'no body';
  if (Array.isArray(body)) return 'a JSON array';
  if (typeof body !== 'string') return `JSON of ${body === null ? 'null' : `a ${typeof body}`}`;
  const type = headers['content-type'];
  const [mediaType = ''] = typeof type === 'string' ? type.split(';') : [];
  if (/[/+]json\s*$/i.test(mediaType)) return `${mediaType.trim()} that is not a JSON object`;
  return mediaType.trim() || 'without a Content-Type';
}

/** What is known of a created payment. */
type CreatedPayment = { readonly [Field in keyof ControlPayment]?: unknown };

function describeCreated(payment: CreatedPayment): string[] {
  const fields = fieldLines({
    'reference number': payment.referenceNumber,
    'merchant reference': payment.merchantPaymentReference,
    status: payment.status,
    amount: `${payment.amount} ${payment.currency}`,
  });
  return ['the payment was created', ...fields];
}
