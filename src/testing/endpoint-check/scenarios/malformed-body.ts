import { SIGNATURE_HEADER } from '../../../protocol/wire.js';
import { createRecord } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import { createForeignKey, withoutHeader } from '../signer.js';
import type { Stage } from '../stage.js';
import { type CheckVerdict, judgeAccepted, judgeRefused, pass } from '../verdict.js';

const BODIES = ['not json', 'null'];

/** What anybody can send, without any secret. */
export const malformedBody: Scenario = defineScenario({
  checks: {
    'malformed-body': {
      title: 'Refuses a body that is no payment, and that nobody signed',
      why: 'Scanners send such requests all day; an exception may end the process that takes your callbacks.',
      remedy:
        'Verify the bytes before anything is parsed, and answer 401; catch what JSON.parse throws. callbackHandler does both.',
    },
    'after-malformed-body': {
      title: 'Goes on working after a body that is no payment',
      why: 'A process that dies of one request takes the payments of all others with it.',
      remedy:
        'Catch what the handler throws, what its promises reject with too, and answer with a status.',
    },
  },
  async run(stage) {
    const verdict = await sendMalformed(stage);
    const payment = await stage.createPayment();
    const next = await stage.deliver(stage.signer.sign(createRecord(payment)));
    return {
      'malformed-body': verdict,
      'after-malformed-body': judgeAccepted('a valid callback after it', next),
    };
  },
});

async function sendMalformed(stage: Stage): Promise<CheckVerdict> {
  const statuses: unknown[] = [];
  for (const body of BODIES) {
    const request = stage.signer.sign(body, { key: createForeignKey() });
    const variants = [
      { what: 'without X-Signature', request: withoutHeader(request, SIGNATURE_HEADER) },
      { what: 'with a wrong signature', request },
    ];
    for (const variant of variants) {
      const answer = await stage.send(variant.request);
      const verdict = judgeRefused(`the body ${JSON.stringify(body)} ${variant.what}`, answer);
      if (verdict.outcome !== 'passed') return verdict;
      statuses.push(answer.status);
    }
  }
  return pass(`unsigned bodies that are no payment were answered ${statuses.join(', ')}`);
}
