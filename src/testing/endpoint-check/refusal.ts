import { createHmac, randomBytes } from 'node:crypto';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import {
  type Answer,
  describeAnswer,
  isAccepted,
  remedyOfRecord,
  remedyOfRefusal,
} from './answer.js';
import { type SignedRequest, withHeader } from './callbacks.js';
import { describeClock } from './endpoint.js';
import type { Stage } from './stage.js';
import { inUnit, listTrials, type Recipe, type Trial } from './trials.js';
import { type CheckVerdict, fail } from './verdict.js';

const WARM_UP =
  'Its log says what failed at first, such as a connection that was not open yet. Make it listen only when it is ready.';
const INVERTED =
  'Its comparison is inverted: refuse when the two digests differ (strcmp and compareTo return 0 when they are equal).';

function signAs(
  { options }: Stage,
  request: SignedRequest,
  { change, isSwapped }: Trial,
): SignedRequest {
  const recipe: Recipe = {
    algorithm: 'sha256',
    key: options.signingKey.export(),
    timestamp: inUnit(options.timestampUnit),
    signed: (timestamp, body) => `${timestamp}.${body}`,
    write: (digest) => digest.toString(options.signatureEncoding),
    ...change,
  };
  const timestamp = recipe.timestamp(options.clock.now());
  const text = recipe.signed(timestamp, Buffer.from(request.body).toString());
  const [key, signed] = isSwapped ? [text, recipe.key] : [recipe.key, text];
  const digest = createHmac(recipe.algorithm, key).update(signed).digest();
  const dated = withHeader(request, TIMESTAMP_HEADER, timestamp);
  return withHeader(dated, SIGNATURE_HEADER, recipe.write(digest));
}

/** Whether another signature may help: not if the request did not reach the handler. */
const mayHelp = ({ status = 0, failureCode }: Answer): boolean =>
  status >= 400
    ? ![405, 415, 429, 502, 504].includes(status)
    : // In Go and Python an exception resets the connection.
      failureCode === 'ECONNRESET';

/** Explains why a valid callback is refused, by what else the endpoint accepts and how it answers a forgery. */
export async function explainRefusal(
  stage: Stage,
  request: SignedRequest,
  answer: Answer,
): Promise<CheckVerdict> {
  const explain = (
    seen: string,
    { remedy, option }: Pick<CheckVerdict, 'remedy' | 'option'>,
  ): CheckVerdict => {
    const detail = `a valid callback: the endpoint ${describeAnswer(answer)}${seen}`;
    return { ...fail(detail + describeClock(answer), answer), remedy, option };
  };
  if (answer.asksForLogin || !mayHelp(answer)) return explain('', remedyOfRefusal(answer));
  const again = await stage.send(request);
  if (isAccepted(again))
    return explain(`, and ${again.status} to the same callback again`, { remedy: WARM_UP });
  if (!mayHelp(again)) return explain('', remedyOfRefusal(answer));
  const forged = await stage.send(
    signAs(stage, request, { what: '', remedy: '', change: { key: randomBytes(32) } }),
  );
  const other = `, and ${forged.status ?? 'none'} to a signature made with another secret`;
  if (isAccepted(forged)) return explain(other, { remedy: INVERTED });
  if (forged.status !== undefined && forged.status !== again.status)
    return explain(other, remedyOfRecord(answer));
  const { trial, tried } = await tryOthers(stage, request);
  if (trial !== undefined) return explain(`, but a 2xx with ${trial.what}`, trial);
  // It may have failed before it refused anything: only its log says where.
  if (!(answer.status && answer.status < 500)) return explain(other, remedyOfRefusal(answer));
  const isRecord = again.quote?.() === answer.quote?.() && forged.quote?.() !== answer.quote?.();
  return isRecord
    ? explain(
        ', with another body than to a signature made with another secret',
        remedyOfRecord(answer),
      )
    : explain(`, and no 2xx to ${tried} other ways to sign it either`, remedyOfRefusal(answer));
}

/** Looks for another way to sign the callback that the endpoint accepts. */
async function tryOthers(
  stage: Stage,
  request: SignedRequest,
): Promise<{ readonly trial?: Trial; readonly tried: number }> {
  const { clock, timeoutMs } = stage.options;
  const startedMs = clock.elapsedMs();
  let tried = 0;
  for (const trial of listTrials(stage.options, Buffer.from(request.body).toString())) {
    const answer = await stage.send(signAs(stage, request, trial));
    tried += 1;
    if (isAccepted(answer)) return { trial, tried };
    const isOver = clock.elapsedMs() - startedMs > timeoutMs;
    if (isOver || !mayHelp(answer)) break;
  }
  return { tried };
}
