import { judgeOneEffect } from '../one-effect.js';
import { createRecord } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import { describeMixture } from '../stage.js';
import { judgeAccepted, skip } from '../verdict.js';

/** The identifier of a payment is its referenceNumber (interface section 2.2); an order may have several. */
export const secondPayment: Scenario = defineScenario({
  checks: {
    'second-payment': {
      title: 'Accepts a second payment of the same order',
      why: 'A customer who tries again, or pays in parts, makes another payment with the same merchantPaymentReference; refused, its callback comes for ever.',
      remedy:
        'Answer 200 to every authentic callback; a payment is identified by referenceNumber, not by merchantPaymentReference.',
    },
  },
  effects: {
    'second-payment-effect': {
      title: 'Acts on a second payment of the same order',
      why: 'A handler that knows duplicates by merchantPaymentReference drops the second payment: money came in that your records do not show.',
      remedy:
        'Know duplicates by callbackKey (referenceNumber, status, updatedAt). When an order must ship once only, record each payment all the same, and let the probe count what is recorded.',
    },
  },
  async run(stage) {
    const first = await stage.createPayment();
    const second = await stage.createPayment({ orderOf: first });
    const unsent = await stage.createPayment({ orderOf: first });
    const before = judgeAccepted(
      'the first payment of the order',
      await stage.deliver(stage.signer.sign(createRecord(first))),
    );
    if (before.outcome !== 'passed') {
      const reason = skip('not tried: the first payment was not accepted');
      return { 'second-payment': before, 'second-payment-effect': reason };
    }
    const request = stage.signer.sign(createRecord(second));
    const verdict = judgeAccepted('the second payment', await stage.deliver(request));
    return {
      'second-payment': verdict,
      'second-payment-effect':
        verdict.outcome === 'passed'
          ? async (probe) => {
              const { effects } = await probe.ask(unsent);
              if (effects !== 0) return skip(describeMixture(probe, 'payments of one order'));
              return judgeOneEffect(second, 'the second payment of an order')(probe);
            }
          : skip('not tried: the second payment was not accepted'),
    };
  },
});
