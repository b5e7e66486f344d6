import type { Answer } from '../endpoint.js';
import { createRecord } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import {
  type CheckVerdict,
  describeAnswer,
  fail,
  isAccepted,
  judgeAccepted,
  pass,
} from '../verdict.js';

/** A refusal may reach the sender as a broken connection: it is still writing when the endpoint closes. */
const BROKEN_CONNECTION: readonly (string | undefined)[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

export const largeBody: Scenario = defineScenario({
  checks: {
    'large-body': {
      title: 'Refuses a body that is far too large',
      why: 'Without a cap anybody can fill the memory of the process that takes your callbacks: it must be read before it can be verified.',
      remedy:
        'Count the bytes as they arrive and answer 413 beyond a cap (callbackHandler: maxBodyBytes; express.raw: limit).',
    },
    'after-large-body': {
      title: 'Goes on working after a body that is far too large',
      why: 'A process that dies of one request takes the payments of all others with it.',
      remedy: 'Cap the body as it is read, before it is decoded or parsed.',
    },
  },
  async run(stage) {
    const large = await stage.send(stage.signer.sign(await padRecord(stage)));
    const payment = await stage.createPayment();
    const next = await stage.deliver(stage.signer.sign(createRecord(payment)));
    if (isAccepted(next)) stage.lastPayment = payment;
    return {
      'large-body': judgeLargeBody(stage, large),
      'after-large-body': judgeAccepted('a valid callback after it', next),
    };
  },
});

// Spaces, so that nothing but its size is wrong with it: no field is too long, none is unknown.
async function padRecord(stage: Stage): Promise<string> {
  const text = JSON.stringify(createRecord(await stage.createPayment()));
  const spaces = stage.options.largeBodyBytes - Buffer.byteLength(text);
  return `{${' '.repeat(Math.max(spaces, 0))}${text.slice(1)}`;
}

function judgeLargeBody({ options: { largeBodyBytes } }: Stage, answer: Answer): CheckVerdict {
  const seen = `${largeBodyBytes} bytes, rightly signed: the endpoint ${describeAnswer(answer)}`;
  const { status, failure } = answer;
  if (status === undefined) {
    return BROKEN_CONNECTION.includes(failure) ? pass(seen, answer) : fail(seen, answer);
  }
  if (isAccepted(answer)) return fail(`${seen}, so it has no cap below that`, answer);
  return status >= 400 && status < 500
    ? pass(seen, answer)
    : fail(`${seen}; 413 was expected`, answer);
}
