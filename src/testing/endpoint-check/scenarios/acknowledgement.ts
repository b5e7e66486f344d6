import type { Answer } from '../endpoint.js';
import { judgeOneEffect } from '../one-effect.js';
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
  skip,
} from '../verdict.js';

/** The first callback: what it shows decides whether there is anything else to check. */
export const acknowledgement: Scenario = defineScenario({
  checks: {
    reachable: {
      title: 'Answers over HTTP',
      why: 'A callback that gets no answer is money that came in without your shop knowing.',
      remedy:
        'Start the endpoint, and check host, port, DNS and TLS certificate of the URL. Its handler must end every request with a status.',
    },
    'valid-accepted': {
      title: 'Accepts a valid callback',
      why: 'A payment whose callback is refused stays unpaid in your records.',
      remedy:
        'A 401 means that the signature or the timestamp was refused: check that the endpoint has the same signing secret, and signs <timestamp>.<raw body>. For 404 check the path. An endpoint that answers 404 or 503 because it takes existing orders only needs merchantPaymentReference.',
    },
    'status-200': {
      title: 'Answers 200 exactly',
      why: 'The interface expects HTTP 200 OK; whether the service takes another 2xx for an acknowledgement is not said.',
      remedy: 'Answer 200 with no body, as callbackHandler does.',
    },
    'acknowledged-in-time': {
      title: 'Acknowledges a callback quickly',
      why: 'A service that gives up waiting delivers again, and counts the callback as failed.',
      remedy:
        'Record the change and answer; leave slow work (e-mail, shipping, other services) to a queue.',
    },
  },
  effects: {
    'valid-effect': {
      title: 'Acts once on a valid callback',
      why: 'Once 200 was answered the callback does not come again: what was not done by then is lost.',
      remedy:
        'Answer 200 after the change is stored, never before. callbackHandler answers when onPayment has returned.',
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.deliver(stage.signer.sign(createRecord(payment)));
    if (isAccepted(answer)) {
      stage.paidPayment = payment;
      // How long it takes tells how long to wait for the others.
      await stage.observe((probe) => probe.askUntilEffect(payment));
    }
    const refused = `not tried: the endpoint ${describeAnswer(answer)}`;
    const ifAccepted = (verdict: CheckVerdict) => (isAccepted(answer) ? verdict : skip(refused));
    return {
      reachable: judgeReachable(answer),
      'valid-accepted':
        answer.status === undefined ? skip(refused) : judgeAccepted('a valid callback', answer),
      'status-200': ifAccepted(judgeStatus(answer)),
      'acknowledged-in-time': ifAccepted(judgeLatency(stage, answer)),
      'valid-effect': isAccepted(answer) ? judgeOneEffect(payment, 'one callback') : skip(refused),
    };
  },
});

function judgeReachable(answer: Answer): CheckVerdict {
  const seen = `the endpoint ${describeAnswer(answer)}`;
  return answer.status === undefined ? fail(seen, answer) : pass(seen, answer);
}

function judgeStatus(answer: Answer): CheckVerdict {
  if (answer.status === 200) return pass('a valid callback was answered 200', answer);
  return fail(
    `a valid callback was answered ${answer.status}, but the interface (section 4.2) expects 200`,
    answer,
  );
}

function judgeLatency({ options: { acknowledgeWithinMs } }: Stage, answer: Answer): CheckVerdict {
  const seen = `acknowledged after ${Math.round(answer.latencyMs)} ms, of ${acknowledgeWithinMs} ms allowed`;
  return answer.latencyMs <= acknowledgeWithinMs ? pass(seen, answer) : fail(seen, answer);
}
