import type { EffectJudgement } from './effect-probe.js';
import type { CheckText, EndpointCheckId } from './report.js';
import type { Stage } from './stage.js';
import type { CheckVerdict } from './verdict.js';

/** Requests that belong together, and the checks they decide. */
export interface Scenario {
  /** In the order in which they are reported; every one gets a verdict from `run`. */
  readonly checks: Partial<Record<EndpointCheckId, CheckText>>;
  /** Reported at the end of the run; every one gets a verdict or a judgement from `run`. */
  readonly effects?: Partial<Record<EndpointCheckId, CheckText>>;
  /** The check that must have passed for this one to tell anything. */
  readonly needs?: EndpointCheckId;
  readonly run: (
    stage: Stage,
  ) => Promise<Partial<Record<EndpointCheckId, CheckVerdict | EffectJudgement>>>;
}

/** A scenario whose `run` decides each of its checks, and no other. */
export function defineScenario<
  Id extends EndpointCheckId = never,
  EffectId extends EndpointCheckId = never,
>(scenario: {
  readonly checks: Record<Id, CheckText>;
  readonly effects?: Record<EffectId, CheckText>;
  readonly needs?: EndpointCheckId;
  readonly run: (
    stage: Stage,
  ) => Promise<
    Record<NoInfer<Id>, CheckVerdict> & Record<NoInfer<EffectId>, CheckVerdict | EffectJudgement>
  >;
}): Scenario {
  return scenario;
}
