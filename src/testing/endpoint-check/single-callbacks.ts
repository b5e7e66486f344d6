import { randomUUID } from 'node:crypto';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import { describeAnswer, isAccepted } from './answer.js';
import { createForeignKey, type SignedRequest, UNKNOWN_STATUS, withHeader } from './callbacks.js';
import { describeCount } from './effect-probe.js';
import type { EndpointCheckId } from './report.js';
import type { Scenario, Stage } from './stage.js';
import { type CheckVerdict, fail, judgeAccepted, judgeRefused, pass, skip } from './verdict.js';

/** One callback that decides one check. */
interface SingleCallback {
  readonly id: EndpointCheckId;
  /** What is sent, as the beginning of a sentence. */
  readonly what: string;
  /** A suffix for the reference of its payment. */
  readonly suffix?: string;
  readonly sign: (record: PaymentStatusRecord, stage: Stage) => SignedRequest;
}

const expectRefusal = ({ id, what, sign }: SingleCallback): Scenario => ({
  ids: [id],
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.forge(payment, sign(stage.createRecord(payment), stage));
    return { [id]: judgeRefused(what, answer) };
  },
});

const expectAcceptance = ({ id, what, suffix = '', sign }: SingleCallback): Scenario => ({
  ids: [id],
  async run(stage) {
    const payment = await stage.createPayment({ suffix });
    const answer = await stage.deliver(sign(stage.createRecord(payment), stage));
    return { [id]: judgeAccepted(what, answer) };
  },
});

const withBody = ({ headers }: SignedRequest, json: string): SignedRequest => ({
  headers,
  body: Buffer.from(json),
});

const forgedCallbacks: readonly SingleCallback[] = [
  {
    id: 'tampered-body',
    what: 'a status changed after signing',
    sign: (record, { signer }) =>
      withBody(signer.sign({ ...record, status: UNKNOWN_STATUS }), JSON.stringify(record)),
  },
  {
    id: 'other-signature',
    what: 'the signature of another payment',
    sign: (record, { signer }) =>
      withBody(signer.sign({ ...record, referenceNumber: randomUUID() }), JSON.stringify(record)),
  },
  {
    id: 'missing-signature',
    what: 'no X-Signature',
    sign: (record, { signer }) => withHeader(signer.sign(record), SIGNATURE_HEADER),
  },
  {
    id: 'missing-timestamp',
    what: 'no X-Timestamp',
    sign: (record, { signer }) => withHeader(signer.sign(record), TIMESTAMP_HEADER),
  },
  {
    id: 'empty-signature',
    what: 'an empty X-Signature',
    sign: (record, { signer }) => withHeader(signer.sign(record), SIGNATURE_HEADER, ''),
  },
  {
    id: 'changed-timestamp',
    what: 'X-Timestamp moved after signing',
    // Two seconds: if a second has begun since signing, one second back is the signed one.
    sign: (record, { signer }) =>
      withHeader(signer.sign(record), TIMESTAMP_HEADER, signer.timestampOf(-2)),
  },
  {
    id: 'parsed-body',
    what: 'an indented body, with the signature of its compact form',
    sign: (record, { signer }) => withBody(signer.sign(record), JSON.stringify(record, null, 2)),
  },
];

// A face outside the basic plane, Arabic between direction marks, and an e with a combining accent.
const UNUSUAL_TEXT = '😀 \u200fطلب\u200e cafe\u0301 ñ';

const unusualCallbacks: readonly SingleCallback[] = [
  {
    id: 'raw-bytes',
    what: 'line breaks, spaces and escapes in the JSON',
    sign: (record, { signer }) => signer.sign(spellUnusually(record)),
  },
  {
    id: 'unicode',
    what: 'emoji, Arabic and combining characters',
    suffix: ` ${UNUSUAL_TEXT}`,
    // A reference from the options stays unchanged.
    sign: (record, { signer, options }) =>
      signer.sign(
        options.merchantPaymentReference === undefined
          ? record
          : { ...record, checkNote: UNUSUAL_TEXT },
      ),
  },
  {
    id: 'extra-fields',
    what: 'additional fields, nested ones too',
    sign: (record, { signer }) => {
      const checkExtra = { nested: { list: [1, 2.5, null, true], text: 'x' } };
      return signer.sign({ ...record, checkExtra, checkNumber: 1 });
    },
  },
  {
    id: 'empty-provider-reference',
    what: 'an empty providerReference',
    sign: (record, { signer }) => signer.sign({ ...record, providerReference: '' }),
  },
  {
    id: 'header-case',
    what: 'header names in capitals',
    sign: (record, { signer }) => {
      const { headers, body } = signer.sign(record);
      const capitals = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
      return { headers: Object.fromEntries(capitals), body };
    },
  },
];

// The same record with escaped letters and slashes, spaces and line breaks. Only ASCII: a handler that decodes
// wrongly fails in the check for that.
function spellUnusually({ providerReference, ...rest }: PaymentStatusRecord): string {
  const escaped = JSON.stringify(`${providerReference}/1`).replace('/', '\\/');
  return JSON.stringify({ ...rest, providerReference: 0 }, null, '\t')
    .replace('"providerReference": 0', `"providerReference" : ${escaped}`)
    .replace('"paid"', '"\\u0070aid"')
    .replaceAll('\n', '\r\n');
}

export const forgeries: readonly Scenario[] = forgedCallbacks.map(expectRefusal);
export const unusual: readonly Scenario[] = unusualCallbacks.map(expectAcceptance);

export const otherUnit: Scenario = expectRefusal({
  id: 'timestamp-unit',
  what: 'X-Timestamp in another unit',
  sign: (record, { signer, options }) => {
    const now = options.clock.now();
    const other = options.timestampUnit === 'seconds' ? now : Math.floor(now / 1000);
    return signer.sign(record, { timestamp: String(other) });
  },
});

/** Changes that a comparison of prefixes, of a part, or of the shorter length overlooks. */
const alterations: readonly {
  readonly what: string;
  readonly alter: (signature: string, encoding: SignatureEncoding) => string;
}[] = [
  { what: 'the first character of the correct signature', alter: (text) => text.slice(0, 1) },
  {
    what: 'the first half of the correct signature',
    alter: (text) => text.slice(0, Math.floor(text.length / 2)),
  },
  {
    what: 'the correct signature with its first byte changed',
    alter: (text, encoding) => flipByte(Buffer.from(text, encoding), 0).toString(encoding),
  },
  {
    what: 'the correct signature with its last byte changed',
    alter: (text, encoding) => flipByte(Buffer.from(text, encoding), -1).toString(encoding),
  },
  {
    what: 'the correct signature with a byte appended',
    alter: (text, encoding) =>
      Buffer.concat([Buffer.from(text, encoding), Buffer.alloc(1)]).toString(encoding),
  },
];

// Changes bytes, not letters: different letters may encode the same bytes.
function flipByte(bytes: Buffer, at: number): Buffer {
  const index = (at + bytes.length) % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes;
}

export const alteredSignature: Scenario = {
  ids: ['altered-signature'],
  async run(stage) {
    const { signatureEncoding } = stage.options;
    const forged = alterations.map(({ what, alter }) => async () => {
      const payment = await stage.createPayment();
      const request = stage.sign(payment);
      const altered = alter(request.headers[SIGNATURE_HEADER] ?? '', signatureEncoding);
      const answer = await stage.forge(payment, withHeader(request, SIGNATURE_HEADER, altered));
      return judgeRefused(what, answer);
    });
    return {
      'altered-signature': await judgeAll('cut, changed and lengthened signatures', forged),
    };
  },
};

/** What anyone can send without a secret. */
export const malformedBody: Scenario = {
  ids: ['malformed-body', 'after-malformed-body'],
  async run(stage) {
    const bodies = ['not json', 'null'].flatMap((body) => {
      const request = stage.signer.sign(body, { key: createForeignKey() });
      const what = `the body ${JSON.stringify(body)}`;
      const unsigned = withHeader(request, SIGNATURE_HEADER);
      return [
        async () => judgeRefused(`${what} without X-Signature`, await stage.send(unsigned)),
        async () => judgeRefused(`${what} with a wrong signature`, await stage.send(request)),
      ];
    });
    const verdict = await judgeAll('unsigned bodies that are not payments', bodies);
    const next = await stage.deliver(stage.sign(await stage.createPayment()));
    return {
      // If it keeps the next callback out, the failure is not a lesser one.
      'malformed-body': isAccepted(next) ? verdict : { ...verdict, isLesser: false },
      'after-malformed-body': judgeAccepted('a valid callback after it', next),
    };
  },
};

/** Returns the first verdict that is not a pass, otherwise one that lists all answers. */
async function judgeAll(
  what: string,
  tries: readonly (() => Promise<CheckVerdict>)[],
): Promise<CheckVerdict> {
  const statuses: unknown[] = [];
  for (const attempt of tries) {
    const verdict = await attempt();
    if (verdict.outcome !== 'passed') return verdict;
    statuses.push(verdict.answer?.status);
  }
  return pass(`${what} were answered ${statuses.join(', ')}`);
}

/** Judges the forged callbacks that were refused. Those that were accepted have already failed. */
export const refusedEffects: Scenario = {
  ids: ['refused-effect'],
  run: async ({ refused }) => ({
    'refused-effect': async (probe) => {
      if (refused.length === 0) return skip('not tried: nothing was refused');
      for (const { payment, answer } of refused) {
        const count = await probe.ask(payment);
        if (count.effects === 0) continue;
        const seen = `countEffects returned ${describeCount(count)} for a forged callback`;
        return fail(`${seen}, to which the endpoint ${describeAnswer(answer)}`, answer);
      }
      return pass(`countEffects returned 0 effects for ${refused.length} forged callbacks`);
    },
  }),
};
