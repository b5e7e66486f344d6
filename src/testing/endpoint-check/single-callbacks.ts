import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { SIGNATURE_HEADER, type SignatureEncoding } from '../../protocol/wire.js';
import { type Answer, describeAnswer, isAccepted } from './answer.js';
import { type SignedRequest, withHeader } from './endpoint.js';
import type { EndpointCheckId } from './report.js';
import { FOREIGN_KEY, type Scenario, type Stage, UNKNOWN_STATUS } from './stage.js';
import { type CheckVerdict, fail, judgeAccepted, judgeRefused, pass, skip } from './verdict.js';

/** Callbacks that decide one check each, whose title says what is special about it. */
type SingleCallbacks = Partial<
  Record<EndpointCheckId, (record: PaymentStatusRecord, stage: Stage) => SignedRequest>
>;

const expectAnswer = (
  isAuthentic: boolean,
  callbacks: SingleCallbacks,
  ofTime = false,
): readonly Scenario[] =>
  Object.entries(callbacks).map(([id, sign]) => ({
    ids: [id as EndpointCheckId],
    async run(stage) {
      const payment = await stage.createPayment();
      const request = sign(stage.createRecord(payment), stage);
      const answer = await (isAuthentic ? stage.deliver(request) : stage.send(request));
      const verdict = isAuthentic
        ? judgeAccepted('a valid callback', answer)
        : judgeRefused('such a callback', answer);
      const clock = (ofTime && answer.clock) || '';
      return { [id]: { ...verdict, detail: verdict.detail + clock } };
    },
  }));

const withBody = ({ headers }: SignedRequest, json: string): SignedRequest => ({
  headers,
  body: Buffer.from(json),
});

export const forgeries: readonly Scenario[] = expectAnswer(false, {
  'tampered-body': (record, stage) =>
    withBody(stage.sign({ ...record, status: UNKNOWN_STATUS }), JSON.stringify(record)),
  'missing-signature': (record, stage) => withHeader(stage.sign(record), SIGNATURE_HEADER),
});

/** How far from the limit timestamps are tried: clocks, the network and the handler shift it. */
const MARGIN_SECONDS = 5;

const signAhead =
  (aheadOf: (toleranceSeconds: number) => number) =>
  (record: PaymentStatusRecord, stage: Stage): SignedRequest => {
    const aheadSeconds = aheadOf(stage.options.toleranceSeconds);
    return stage.sign(record, { timestamp: stage.timestampOf(aheadSeconds) });
  };

const untimely: SingleCallbacks = {
  'stale-timestamp': signAhead((tolerance) => -tolerance - MARGIN_SECONDS),
  'future-timestamp': signAhead((tolerance) => tolerance + MARGIN_SECONDS),
};

const delayed: SingleCallbacks = {
  // A tolerance of a few seconds leaves no room for the margin.
  'delayed-callback': signAhead(
    (tolerance) => Math.min(MARGIN_SECONDS, Math.ceil(tolerance / 2)) - tolerance,
  ),
};

export const limits = [
  ...expectAnswer(false, untimely, true),
  ...expectAnswer(true, delayed, true),
];

// A face outside the basic plane, Arabic between direction marks, and an e with a combining accent.
const UNUSUAL_TEXT = '😀 \u200fطلب\u200e cafe\u0301 ñ';

export const unusual: readonly Scenario[] = expectAnswer(true, {
  'raw-bytes': (record, stage) => stage.sign(spellUnusually(record)),
  'extra-fields': (record, stage) => {
    const checkExtra = { nested: { list: [1, 2.5, null, true], text: UNUSUAL_TEXT } };
    return stage.sign({ ...record, checkExtra, checkNumber: 1 });
  },
  'missing-fields': ({ createdAt: _missing, ...record }, stage) =>
    stage.sign({ ...record, providerReference: null }),
});

// The same record with escaped letters and slashes, spaces and line breaks. Only ASCII: a handler that decodes
// wrongly fails in the check for that.
function spellUnusually({ providerReference, ...rest }: PaymentStatusRecord): string {
  const escaped = JSON.stringify(`${providerReference}/1`).replace('/', '\\/');
  return JSON.stringify({ ...rest, providerReference: 0 }, null, '\t')
    .replace('"providerReference": 0', `"providerReference" : ${escaped}`)
    .replace('"paid"', '"\\u0070aid"')
    .replaceAll('\n', '\r\n');
}

const changeBytes =
  (change: (bytes: Buffer) => Buffer) =>
  (signature: string, encoding: SignatureEncoding): string =>
    change(Buffer.from(signature, encoding)).toString(encoding);

// Changes bytes, not letters: different letters may encode the same bytes.
const flipByte = (at: number) =>
  changeBytes((bytes) => bytes.fill((bytes[at] ?? 0) ^ 1, at, at + 1));

/** Changes that a comparison of prefixes, of a part, or of the shorter length overlooks. */
const alterations: readonly (readonly [
  what: string,
  alter: (signature: string, encoding: SignatureEncoding) => string,
])[] = [
  ['the first character of the correct signature', (text) => text.slice(0, 1)],
  ['the first half of the correct signature', (text) => text.slice(0, text.length / 2)],
  ['the correct signature with its first byte changed', flipByte(0)],
  ['the correct signature with its last byte changed', flipByte(31)],
  [
    'the correct signature with a byte appended',
    changeBytes((bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
  ],
];

export const alteredSignature: Scenario = {
  ids: ['altered-signature'],
  async run(stage) {
    const { signatureEncoding } = stage.options;
    const forged = alterations.map(([what, alter]) => async () => {
      const payment = await stage.createPayment();
      const request = stage.signChange(payment);
      const altered = alter(request.headers[SIGNATURE_HEADER] ?? '', signatureEncoding);
      const answer = await stage.send(withHeader(request, SIGNATURE_HEADER, altered));
      return judgeRefused(what, answer);
    });
    return {
      'altered-signature': await judgeAll('cut, changed and lengthened signatures', forged),
    };
  },
};

/** What anyone can send without a secret. */
export const malformedBody: Scenario = {
  ids: ['malformed-body'],
  async run(stage) {
    const request = stage.sign('not json', { key: FOREIGN_KEY });
    const unsigned = withHeader(stage.sign('null'), SIGNATURE_HEADER);
    const bodies = [
      async () => judgeRefused('the body null without X-Signature', await stage.send(unsigned)),
      async () => judgeRefused('the body "not json", wrongly signed', await stage.send(request)),
    ];
    return { 'malformed-body': await judgeAll('unsigned bodies that are not payments', bodies) };
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

export const available: Scenario = {
  ids: ['available'],
  run: async ({ outage, accepted }) => ({
    available:
      outage ??
      (accepted.paid
        ? pass('the endpoint accepted valid callbacks to the end of the run')
        : skip('not judged: the endpoint accepted no callback')),
  }),
};

/** A refusal may reach the sender as a broken connection: it is still writing when the endpoint closes. */
const BROKEN_CONNECTION: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

export const largeBody: Scenario = {
  ids: ['large-body'],
  async run(stage) {
    const { largeBodyBytes } = stage.options;
    // Spaces, so that only its size is wrong: no field is too long or unknown.
    const json = JSON.stringify(stage.createRecord(await stage.createPayment()));
    const spaces = ' '.repeat(Math.max(largeBodyBytes - Buffer.byteLength(json), 0));
    const large = await stage.send(stage.sign(`{${spaces}${json.slice(1)}`));
    const payment = await stage.createPayment();
    const next = await stage.deliver(stage.signChange(payment));
    if (isAccepted(next)) stage.accepted.last = payment;
    return {
      'large-body': { ...judgeLargeBody(largeBodyBytes, large), isLesser: isAccepted(next) },
    };
  },
};

function judgeLargeBody(bytes: number, answer: Answer): CheckVerdict {
  const seen = `${bytes} bytes, correctly signed: the endpoint ${describeAnswer(answer)}`;
  const { status = 0, failure } = answer;
  if (failure !== undefined) {
    return BROKEN_CONNECTION.includes(failure) ? pass(seen, answer) : fail(seen, answer);
  }
  if (isAccepted(answer)) return fail(`${seen}, so its cap is higher, or it has none`, answer);
  if (status >= 400 && status < 500) return pass(seen, answer);
  return fail(`${seen}; 413 was expected`, answer);
}
