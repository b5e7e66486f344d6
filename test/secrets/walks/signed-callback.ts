import { createHmac, createSecretKey } from 'node:crypto';
import { NOW_SECONDS, sampleRecord } from '../../callback/sample-callback.js';
import { customer, reference, signingBytes, signingKey, signingText } from '../planted.js';

/** The planted signing secret in each form that the package takes. */
export const signingSecrets = {
  'as text': signingText,
  'as bytes': signingBytes,
  'as a KeyObject': signingKey,
} as const;

export type PlantedSecret = (typeof signingSecrets)[keyof typeof signingSecrets];

export const record = sampleRecord({ merchantPaymentReference: reference, note: customer });
export const body = JSON.stringify(record);

export interface Signed {
  readonly rawBody: string | Uint8Array;
  readonly headers: Record<string, string>;
}

/** A callback that is right, unless told otherwise; signed here and not by the package. */
export function signed(
  secret: PlantedSecret,
  {
    rawBody = body,
    timestamp = String(NOW_SECONDS),
  }: { rawBody?: string | Uint8Array; timestamp?: string } = {},
): Signed {
  const hmac = createHmac(
    'sha256',
    typeof secret === 'string' ? createSecretKey(secret, 'utf8') : secret,
  );
  const signature = hmac.update(`${timestamp}.`).update(rawBody).digest('hex');
  return { rawBody, headers: { 'x-timestamp': timestamp, 'x-signature': signature } };
}

/** Everything that can be wrong with a callback, by the code that it is refused with. */
export function refusals(
  secret: PlantedSecret,
): readonly (readonly [code: string, request: unknown])[] {
  const good = signed(secret);
  const withHeaders = (headers: object) => ({ ...good, headers: { ...good.headers, ...headers } });
  const other = (rawBody: string | Uint8Array) => signed(secret, { rawBody });
  return [
    ['RAW_BODY_REQUIRED', { ...good, rawBody: JSON.parse(body) }],
    ['RAW_BODY_REQUIRED', { ...good, rawBody: `${customer}\ud800` }],
    ['MISSING_TIMESTAMP', withHeaders({ 'x-timestamp': undefined })],
    ['MISSING_SIGNATURE', withHeaders({ 'x-signature': undefined })],
    ['INVALID_TIMESTAMP', withHeaders({ 'x-timestamp': customer })],
    ['INVALID_TIMESTAMP', withHeaders({ 'x-timestamp': [customer, customer] })],
    ['TIMESTAMP_OUTSIDE_WINDOW', signed(secret, { timestamp: String(NOW_SECONDS - 301) })],
    ['INVALID_SIGNATURE', withHeaders({ 'x-signature': customer })],
    ['INVALID_SIGNATURE', withHeaders({ 'x-signature': signingText })],
    ['INVALID_SIGNATURE', withHeaders({ 'x-signature': [customer, customer] })],
    ['SIGNATURE_MISMATCH', { ...good, rawBody: `${body} ` }],
    ['SIGNATURE_MISMATCH', withHeaders({ 'x-signature': 'ab'.repeat(32) })],
    ['INVALID_RECORD', other(customer)],
    ['INVALID_RECORD', other(`{"a":${customer}`)],
    ['INVALID_RECORD', other(Buffer.concat([Buffer.from(customer), Buffer.of(0xff)]))],
    ['INVALID_RECORD', other(JSON.stringify([customer]))],
    ['INVALID_RECORD', other(JSON.stringify({ [customer]: 1, status: [customer] }))],
    ['INVALID_RECORD', other(JSON.stringify({ ...record, updatedAt: customer }))],
    ['INVALID_OPTION', { ...good, headers: customer }],
    ['INVALID_OPTION', { ...good, headers: [customer] }],
    ['INVALID_OPTION', customer],
  ];
}

/** A schema of the merchant's, with what it says of every record. */
export const schemaThat = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as never;
