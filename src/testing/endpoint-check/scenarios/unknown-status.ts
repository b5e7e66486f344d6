import { createRecord, UNKNOWN_STATUS } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import { fail, judgeAccepted, pass, skip } from '../verdict.js';

/** The interface names `paid` only (section 2.2), and promises no list. */
export const unknownStatus: Scenario = defineScenario({
  checks: {
    'unknown-status': {
      title: 'Accepts a status it does not know',
      why: 'The interface lists no statuses beyond paid; an error makes the service deliver the same callback for ever.',
      remedy: 'Decide on the statuses you know; record any other, decide nothing, and answer 200.',
    },
  },
  effects: {
    'unknown-status-effect': {
      title: 'Does not take a status it does not know for paid',
      why: 'A payment that failed or was cancelled would count as paid, and the goods would go out for nothing.',
      remedy:
        "Ask for status === 'paid', and store any other as what it is: no else branch that means paid.",
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signer.sign(createRecord(payment, { status: UNKNOWN_STATUS }));
    const verdict = judgeAccepted(`the status ${UNKNOWN_STATUS}`, await stage.deliver(request));
    const { paidPayment } = stage;
    if (verdict.outcome === 'passed') stage.unknownPayment = payment;
    if (verdict.outcome !== 'passed' || paidPayment === undefined) {
      const reason = skip('not tried: the callback was not accepted');
      return { 'unknown-status': verdict, 'unknown-status-effect': reason };
    }
    return {
      'unknown-status': verdict,
      'unknown-status-effect': async (probe) => {
        const { status: paid } = await probe.ask(paidPayment);
        const { status } = await probe.ask(payment);
        if (paid === undefined) return skip(`not tried: ${probe.name} tells no status`);
        const seen = `${probe.name} told ${describeStatus(status)} after ${UNKNOWN_STATUS}, and ${describeStatus(paid)} after paid`;
        return status === paid ? fail(seen) : pass(seen);
      },
    };
  },
});

const describeStatus = (status: string | undefined): string =>
  status === undefined ? 'no status' : `status ${JSON.stringify(status)}`;
