import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { SIGNATURE_HEADER } from '../../protocol/wire.js';
import {
  type Answer,
  type CheckVerdict,
  checkAccepted,
  checkRefused,
  describeAnswer,
  fail,
  isAccepted,
  pass,
  skip,
} from './answer.js';
import type { EndpointCheckId } from './checks.js';
import { type SignedRequest, withHeader } from './endpoint.js';
import { FOREIGN_KEY, type Scenario, type Stage, UNKNOWN_STATUS } from './stage.js';

/** Callbacks of one payment, by what is special about them; their check passes if all are answered rightly. */
type Callbacks = (
  record: PaymentStatusRecord,
  stage: Stage,
) => Readonly<Record<string, SignedRequest>>;

/** The checks of the answers to single callbacks, whose titles say what is special about them. */
type SingleCallbacks = Partial<Record<EndpointCheckId, Callbacks>>;

const withBody = ({ headers }: SignedRequest, json: string): SignedRequest => ({
  headers,
  body: Buffer.from(json),
});

/** How far from the limit timestamps are tried: clocks, the network and the handler shift it. */
const MARGIN_SECONDS = 5;

const signAhead =
  (aheadOf: (toleranceSeconds: number) => number) =>
  (record: PaymentStatusRecord, stage: Stage): SignedRequest => {
    const aheadSeconds = aheadOf(stage.options.toleranceSeconds);
    return stage.sign(record, { timestamp: stage.timestampOf(aheadSeconds) });
  };

/** Makes the only callback of a check. */
const only =
  (what: string) =>
  (sign: (record: PaymentStatusRecord, stage: Stage) => SignedRequest): Callbacks =>
  (record, stage) => ({ [what]: sign(record, stage) });
const forged = only('such a callback');
const valid = only('a valid callback');

const refused: SingleCallbacks = {
  'tampered-body': forged((record, stage) =>
    withBody(stage.sign({ ...record, status: UNKNOWN_STATUS }), JSON.stringify(record)),
  ),
  'missing-signature': forged((record, stage) => withHeader(stage.sign(record), SIGNATURE_HEADER)),
  // Changes that a comparison of prefixes, of a part, or of the shorter length overlooks. They change bytes, not
  // letters: different letters may encode the same bytes.
  'altered-signature'(record, stage) {
    const request = stage.sign(record);
    const { signatureEncoding: encoding } = stage.options;
    const signature = request.headers[SIGNATURE_HEADER] ?? '';
    const bytes = Buffer.from(signature, encoding);
    const flip = (at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
    const write = (changed: Uint8Array) => Buffer.from(changed).toString(encoding);
    const altered = {
      'the first character of the correct signature': signature.slice(0, 1),
      'the first half of the correct signature': signature.slice(0, signature.length / 2),
      'the correct signature with its first byte changed': write(flip(0)),
      'the correct signature with its last byte changed': write(flip(31)),
      'the correct signature with a byte appended': write(Buffer.concat([bytes, Buffer.alloc(1)])),
    };
    return Object.fromEntries(
      Object.entries(altered).map(([what, text]) => [
        what,
        withHeader(request, SIGNATURE_HEADER, text),
      ]),
    );
  },
  // What anyone can send without a secret.
  'malformed-body': (_record, stage) => ({
    'the body null without X-Signature': withHeader(stage.sign('null'), SIGNATURE_HEADER),
    'the body "not json", wrongly signed': stage.sign('not json', { key: FOREIGN_KEY }),
  }),
  'stale-timestamp': forged(signAhead((tolerance) => -tolerance - MARGIN_SECONDS)),
  'future-timestamp': forged(signAhead((tolerance) => tolerance + MARGIN_SECONDS)),
};

// A face outside the basic plane, Arabic between direction marks, and an e with a combining accent.
const UNUSUAL_TEXT = '😀 \u200fطلب\u200e cafe\u0301 ñ';

const accepted: SingleCallbacks = {
  // A tolerance of a few seconds leaves no room for the margin.
  'delayed-callback': valid(
    signAhead((tolerance) => Math.min(MARGIN_SECONDS, Math.ceil(tolerance / 2)) - tolerance),
  ),
  'raw-bytes': valid((record, stage) => stage.sign(spellUnusually(record))),
  'extra-fields': valid((record, stage) => {
    const checkExtra = { nested: { list: [1, 2.5, null, true], text: UNUSUAL_TEXT } };
    return stage.sign({ ...record, checkExtra, checkNumber: 1 });
  }),
  'missing-fields': valid(({ createdAt: _missing, ...record }, stage) =>
    stage.sign({ ...record, providerReference: null }),
  ),
};

// The same record with escaped letters and slashes, spaces and line breaks. Only ASCII: a handler that decodes
// wrongly fails in the check for that.
function spellUnusually({ providerReference, ...rest }: PaymentStatusRecord): string {
  const escaped = JSON.stringify(`${providerReference}/1`).replace('/', '\\/');
  return JSON.stringify({ ...rest, providerReference: 0 }, null, '\t')
    .replace('"providerReference": 0', `"providerReference" : ${escaped}`)
    .replace('"paid"', '"\\u0070aid"')
    .replaceAll('\n', '\r\n');
}

const expectAnswers = (
  all: SingleCallbacks,
  send: (request: SignedRequest, stage: Stage) => Promise<Answer>,
  check: typeof checkRefused,
): readonly Scenario[] =>
  Object.entries(all).map(([id, callbacks]) => ({
    ids: [id as EndpointCheckId],
    async run(stage) {
      const record = stage.createRecord(await stage.createPayment());
      let verdict: CheckVerdict | undefined;
      for (const [what, request] of Object.entries(callbacks(record, stage))) {
        verdict = check(what, await send(request, stage));
        if (verdict.outcome !== 'passed') break;
      }
      return { [id]: verdict };
    },
  }));

export const singleCallbacks: readonly Scenario[] = [
  ...expectAnswers(refused, (request, stage) => stage.endpoint.post(request), checkRefused),
  ...expectAnswers(accepted, (request, stage) => stage.deliver(request), checkAccepted),
];

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
    const large = await stage.endpoint.post(stage.sign(`{${spaces}${json.slice(1)}`));
    const payment = await stage.createPayment();
    const next = await stage.deliver(stage.signChange(payment));
    if (isAccepted(next)) stage.accepted.last = payment;
    return {
      'large-body': checkLargeBody(largeBodyBytes, large),
    };
  },
};

function checkLargeBody(bytes: number, answer: Answer): CheckVerdict {
  const seen = `${bytes} bytes, correctly signed: the endpoint ${describeAnswer(answer)}`;
  const { status = 0, failure } = answer;
  if (failure !== undefined) {
    return BROKEN_CONNECTION.includes(failure) ? pass(seen, answer) : fail(seen, answer);
  }
  if (isAccepted(answer)) return fail(`${seen}, so its cap is higher, or it has none`, answer);
  if (status >= 400 && status < 500) return pass(seen, answer);
  return fail(`${seen}; 413 was expected`, answer);
}
