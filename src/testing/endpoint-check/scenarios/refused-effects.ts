import { defineScenario, type Scenario } from '../scenario.js';
import { describeCount } from '../stage.js';
import { describeAnswer, fail, pass, skip } from '../verdict.js';

/** Of all callbacks that were to be refused, those that were. The accepted ones have failed already. */
export const refusedEffects: Scenario = defineScenario({
  checks: {},
  effects: {
    'refused-effect': {
      title: 'Does nothing for a callback that it does not accept',
      why: 'An order that is marked paid before the signature is checked stays paid, whatever is answered afterwards.',
      remedy:
        'Verify first and act afterwards. callbackHandler calls onPayment for verified callbacks only.',
    },
  },
  async run({ refused }) {
    return {
      'refused-effect': async (probe) => {
        if (refused.length === 0) return skip('not tried: nothing was refused');
        for (const { payment, answer } of refused) {
          const count = await probe.ask(payment);
          if (count.effects === 0) continue;
          const seen = `${probe.name} told ${describeCount(count)} of a forged callback`;
          return fail(`${seen}, to which the endpoint ${describeAnswer(answer)}`, answer);
        }
        return pass(`${probe.name} told 0 effects of ${refused.length} forged callbacks`);
      },
    };
  },
});
