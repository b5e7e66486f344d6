import type { SignedCallback } from 'merchant-payments/testing';
import {
  type Call,
  defineCommand,
  list,
  parsed,
  text,
  UsageError,
  withDefault,
} from '../command.js';
import {
  parseHttpUrl,
  readFields,
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
  wholeNumber,
} from '../option-values.js';

const DEFAULT_URL = 'http://127.0.0.1:3000/callbacks/payments';

/** The latest second that a Date holds. */
const LATEST_SECOND = 8_640_000_000_000;

const options = {
  status: text({ value: 'status', help: 'The status. Default: paid' }),
  reference: text({ value: 'text', help: "The merchant's own reference. Default: a random one" }),
  'reference-number': text({
    value: 'uuid',
    help: "The service's identifier of the payment. Default: a random one",
  }),
  field: list({
    value: 'name=value',
    help: 'Another field of the record, or an additional one. The value is JSON, or text if it is not JSON.',
  }),
  body: text({ value: 'text', help: 'The whole body, in place of a record.' }),
  url: withDefault(
    parsed(
      { value: 'url', help: `The URL of the endpoint. Default: ${DEFAULT_URL}` },
      parseHttpUrl,
    ),
    new URL(DEFAULT_URL),
  ),
  'signing-secret': signingSecretOption,
  timestamp: wholeNumber(
    { value: 'seconds', help: 'X-Timestamp, in Unix seconds. Default: now' },
    { max: LATEST_SECOND },
  ),
  'signature-encoding': signatureEncodingOption,
};

export const sign = defineCommand({
  summary: 'Prints a signed callback, for curl.',
  options,
  details: [
    'Fields of the record that are not given have sample values. callback verify reads what --json prints.',
  ],
  examples: [
    'merchant-payments callback sign --reference order-1 --status paid',
    'merchant-payments callback sign --field amount=12.5 --json',
    `merchant-payments callback sign --body '{"status":"paid"}' --timestamp 1769860800`,
  ],
  async run({ options: given, terminal }) {
    const signingSecret = requireSigningSecret(given['signing-secret'], terminal);
    const record = readRecord(given);
    if (given.body !== undefined && Object.keys(record).length > 0) {
      throw new UsageError(
        '--body replaces the record: leave out --status, --reference, --reference-number and --field',
      );
    }
    const { signCallback } = await import('merchant-payments/testing');
    const { headers, rawBody } = signCallback({
      payment: given.body ?? record,
      signingSecret,
      timestamp: given.timestamp,
      signatureEncoding: given['signature-encoding'],
    });
    const request = { url: given.url.href, headers, rawBody: Buffer.from(rawBody).toString() };
    return { json: { method: 'POST', ...request }, lines: () => toCurlCommand(request) };
  },
});

/** Fields that are always text: `--field providerReference=42` is not a number. */
const TEXT_FIELDS = ['providerReference', 'createdAt', 'updatedAt'];

const flagOfField = {
  status: '--status',
  merchantPaymentReference: '--reference',
  referenceNumber: '--reference-number',
};

function readRecord(given: Call<typeof options>['options']): Readonly<Record<string, unknown>> {
  const own = {
    status: given.status,
    merchantPaymentReference: given.reference,
    referenceNumber: given['reference-number'],
  };
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  const empty = set.find(([, value]) => value === '');
  if (empty) throw new UsageError(`${flagOfField[empty[0] as keyof typeof own]} must not be empty`);
  return {
    ...Object.fromEntries(set),
    ...readFields('--field', given.field, { flagOfField, texts: TEXT_FIELDS }),
  };
}

interface PrintedCallback extends Pick<SignedCallback, 'headers'> {
  readonly url: string;
  readonly rawBody: string;
}

/** Writes a curl command that sends the callback, for POSIX shells. */
export function toCurlCommand({ url, headers, rawBody }: PrintedCallback): string[] {
  // curl expands brackets and braces in a URL.
  const globbing = /[[\]{}]/.test(url) ? ' --globoff' : '';
  return [
    // -i, since answers to callbacks have no body.
    `curl -i${globbing} ${quote(url)} \\`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)} \\`),
    // Not --data-binary: it would read a file for a body that begins with @.
    `  --data-raw ${quote(rawBody)}`,
  ];
}

const quote = (given: string): string => `'${given.replaceAll("'", "'\\''")}'`;
