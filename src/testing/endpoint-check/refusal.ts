import { createHmac } from 'node:crypto';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import {
  type Answer,
  type CheckVerdict,
  describeAnswer,
  fail,
  isAccepted,
  REFUSED_RECORD,
  remedyOfRefusal,
} from './answer.js';
import { type SignedRequest, withHeader } from './endpoint.js';
import { FOREIGN_KEY, type Stage } from './stage.js';

type Explanation = Pick<CheckVerdict, 'remedy' | 'paste'>;

/** A mistake that endpoints make: another form of the callback is accepted, and shows it. */
interface Trial extends Explanation {
  readonly what: string;
  readonly request: SignedRequest;
}

const RAW =
  'Sign the bytes as received, before anything parses them (express.raw, php://input, request.get_data(), io.ReadAll).';
const PARSED: Explanation = {
  remedy:
    'A parser of JSON reads the body before your handler (RAW_BODY_REQUIRED): put the handler before it.',
  paste:
    "app.all('/callbacks/payments', callbackHandler({ … })); // before app.use(express.json())",
};

/** The usual mistakes, the likeliest first. */
function listTrials({ options }: Stage, request: SignedRequest): readonly Trial[] {
  const { signatureEncoding, timestampUnit } = options;
  const secret = options.signingSecret.export();
  const text = secret.toString();
  const body = Buffer.from(request.body).toString();
  const timestamp = request.headers[TIMESTAMP_HEADER] ?? '';
  const sign = (signed: string, key: Buffer | string = secret, encoding = signatureEncoding) =>
    withHeader(
      request,
      SIGNATURE_HEADER,
      createHmac('sha256', key).update(signed).digest(encoding),
    );
  const isHex = signatureEncoding === 'hex';
  const otherEncoding = isHex ? 'base64' : 'hex';
  const inSeconds = timestampUnit === 'seconds';
  const otherUnit = inSeconds ? 'milliseconds' : 'seconds';
  const otherTime = String(inSeconds ? Number(timestamp) * 1000 : Number(timestamp) / 1000);
  return [
    {
      what: 'the body alone signed',
      remedy: 'Update the HMAC with X-Timestamp, a full stop, and the raw body, in this order.',
      paste: `createHmac('sha256', secret).update(\`\${timestamp}.\`).update(rawBody).digest('${signatureEncoding}')`,
      request: sign(body),
    },
    {
      what: 'an empty body signed',
      remedy: `Something else has already read the body. ${RAW}`,
      paste: PARSED.paste,
      request: sign(`${timestamp}.`),
    },
    {
      what: `X-Signature in ${otherEncoding}`,
      remedy: `Write the digest in ${signatureEncoding} before it is compared. If the service sends ${otherEncoding}, check with the option signatureEncoding '${otherEncoding}'.`,
      request: sign(`${timestamp}.${body}`, secret, otherEncoding),
    },
    {
      what: `X-Timestamp in ${otherUnit}`,
      remedy: `Compare X-Timestamp with the time in ${timestampUnit}. If the service sends ${otherUnit}, check with the option timestampUnit '${otherUnit}'.`,
      request: withHeader(sign(`${otherTime}.${body}`), TIMESTAMP_HEADER, otherTime),
    },
    {
      what: 'the signing secret left empty',
      remedy:
        'Its variable for the signing secret is not set, so anyone can sign: set it, and refuse to start without it.',
      request: sign(`${timestamp}.${body}`, ''),
    },
    {
      what: 'the signing secret with a line break at its end',
      remedy: 'Trim the secret when it is read from a file.',
      paste: 'const signingSecret = text.trim();',
      request: sign(`${timestamp}.${body}`, `${text}\n`),
    },
    {
      what: 'the signing secret decoded from base64',
      remedy: 'Use the secret itself as the key, without decoding or encoding it.',
      request: sign(`${timestamp}.${body}`, Buffer.from(text, 'base64')),
    },
  ];
}

/** Explains why a valid callback is refused, by at most nine other requests. */
export async function explainRefusal(
  stage: Stage,
  request: SignedRequest,
  answer: Answer,
): Promise<CheckVerdict> {
  const explain = (seen: string, { remedy, paste }: Explanation): CheckVerdict => {
    const detail = `a valid callback: the endpoint ${describeAnswer(answer)}${seen}`;
    return { ...fail(detail, answer), remedy, paste };
  };
  const { status = 0 } = answer;
  if (/RAW_BODY_REQUIRED/.test(answer.quote?.() ?? '')) return explain('', PARSED);
  // It did not reach the handler, so that no other form helps.
  const isElsewhere = status < 400 || [405, 415, 429, 502, 504].includes(status);
  if (answer.asksForLogin || isElsewhere) return explain('', { remedy: remedyOfRefusal(answer) });
  const record = JSON.parse(Buffer.from(request.body).toString());
  const forged = await stage.endpoint.post(stage.sign(record, { key: FOREIGN_KEY }));
  const other = `, and ${forged.status ?? 'none'} to a signature made with another secret`;
  if (isAccepted(forged)) {
    const remedy =
      'Its comparison is inverted: refuse when the two digests differ (strcmp and compareTo return 0 when they are equal).';
    return explain(other, { remedy });
  }
  if (forged.status !== status) return explain(other, { remedy: REFUSED_RECORD });
  const plain = await stage.endpoint.post(withHeader(request, 'content-type', 'text/plain'));
  // Past the parser, the handler may ask for a retry, as of an order that it does not know.
  if (
    isAccepted(plain) ||
    (status >= 500 && plain.status !== undefined && plain.status !== status)
  ) {
    return explain(`, and ${plain.status} to the same as text/plain`, PARSED);
  }
  // A missing route and a failure do not depend on how the callback is signed.
  const trials = status === 404 || status >= 500 ? [] : listTrials(stage, request);
  const found = await findAccepted(trials, stage);
  return found === undefined
    ? explain(other, { remedy: remedyOfRefusal(answer) })
    : explain(`, but a 2xx with ${found.what}`, found);
}

async function findAccepted(trials: readonly Trial[], stage: Stage): Promise<Trial | undefined> {
  for (const trial of trials)
    if (isAccepted(await stage.endpoint.post(trial.request))) return trial;
  return undefined;
}
