import { randomUUID } from 'node:crypto';
import type { PaymentStatusRecord } from '../../../protocol/payment.js';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../../protocol/wire.js';
import { createRecord, UNKNOWN_STATUS } from '../payment.js';
import type { CheckText, EndpointCheckId } from '../report.js';
import type { Scenario } from '../scenario.js';
import {
  createForeignKey,
  type SignedRequest,
  type Signer,
  withoutHeader,
  withSignature,
} from '../signer.js';
import { judgeRefused } from '../verdict.js';

interface Forgery extends CheckText {
  readonly id: EndpointCheckId;
  /** What is sent, as the beginning of a sentence. */
  readonly what: string;
  readonly forge: (signer: Signer, record: PaymentStatusRecord) => SignedRequest;
}

const USE_THE_HANDLER =
  'Compare the HMAC of the received bytes with X-Signature and answer 401 when it differs, as callbackHandler does.';
const HEADER_REMEDY =
  'Answer 401 when X-Signature or X-Timestamp is missing or malformed, before anything is computed from it; callbackHandler does.';

const list: readonly Forgery[] = [
  {
    id: 'tampered-body',
    title: 'Refuses a body that was changed after it was signed',
    why: 'Whoever can change a callback on its way turns an unpaid order into a paid one.',
    remedy: USE_THE_HANDLER,
    what: 'a status changed after signing',
    forge: (signer, record) => ({
      ...signer.sign({ ...record, status: UNKNOWN_STATUS }),
      body: Buffer.from(JSON.stringify(record)),
    }),
  },
  {
    id: 'other-signature',
    title: 'Refuses the signature of another callback',
    why: 'A signature that was seen once would be good for any payment.',
    remedy: USE_THE_HANDLER,
    what: 'the signature of another payment',
    forge: (signer, record) => {
      const other = { ...record, referenceNumber: randomUUID() };
      return { ...signer.sign(other), body: Buffer.from(JSON.stringify(record)) };
    },
  },
  {
    id: 'wrong-secret',
    title: 'Refuses a signature made with another secret',
    why: 'Anybody who knows the URL could report payments that never happened.',
    remedy: USE_THE_HANDLER,
    what: 'a signature by another secret',
    forge: (signer, record) => signer.sign(record, { key: createForeignKey() }),
  },
  {
    id: 'missing-signature',
    title: 'Refuses a callback without X-Signature',
    why: 'If leaving the header out skips the check, nobody needs the secret.',
    remedy: HEADER_REMEDY,
    what: 'no X-Signature',
    forge: (signer, record) => withoutHeader(signer.sign(record), SIGNATURE_HEADER),
  },
  {
    id: 'missing-timestamp',
    title: 'Refuses a callback without X-Timestamp',
    why: 'Without a timestamp an old callback can be played again.',
    remedy: HEADER_REMEDY,
    what: 'no X-Timestamp',
    forge: (signer, record) => withoutHeader(signer.sign(record), TIMESTAMP_HEADER),
  },
  {
    id: 'empty-signature',
    title: 'Refuses an empty X-Signature',
    why: 'An empty value often passes for "not given", or makes the comparison itself throw.',
    remedy: HEADER_REMEDY,
    what: 'an empty X-Signature',
    forge: (signer, record) => withSignature(signer.sign(record), ''),
  },
  {
    id: 'changed-timestamp',
    title: 'Refuses a timestamp that was changed after signing',
    why: 'A timestamp that is not part of what is verified can be set to now, so that old callbacks work for ever.',
    remedy:
      'Compute the HMAC of <X-Timestamp>.<raw body>, not of the body alone; callbackHandler does.',
    what: 'X-Timestamp moved after signing',
    forge: (signer, record) => {
      const { headers, body } = signer.sign(record);
      // Two seconds: one could be the very second that was signed, when another has begun since.
      return { headers: { ...headers, [TIMESTAMP_HEADER]: signer.timestampOf(-2) }, body };
    },
  },
  {
    id: 'parsed-body',
    title: 'Verifies the bytes received, not a JSON made from them',
    why: 'A body that is parsed and written again is not what was signed: true callbacks fail, and bytes nobody signed pass.',
    remedy:
      'Verify the raw body: mount callbackHandler before express.json(), or keep the bytes the framework received.',
    what: 'an indented body, with the signature of its compact form',
    forge: (signer, record) => ({
      ...signer.sign(record),
      body: Buffer.from(JSON.stringify(record, null, 2)),
    }),
  },
];

const toScenario = ({ id, what, forge, ...text }: Forgery): Scenario => ({
  checks: { [id]: text },
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.forge(payment, forge(stage.signer, createRecord(payment)));
    return { [id]: judgeRefused(what, answer) };
  },
});

export const forgeries: readonly Scenario[] = list.map(toScenario);
