import type { CheckText, EndpointCheckId } from './report.js';
import type { Stage } from './stage.js';
import type { CheckVerdict } from './verdict.js';

/** Requests that belong together, and the checks they decide. */
export interface Scenario {
  /** In the order in which they are reported; every one gets a verdict from `run`. */
  readonly checks: Partial<Record<EndpointCheckId, CheckText>>;
  /** The check that must have passed for this one to tell anything. */
  readonly needs?: EndpointCheckId;
  readonly run: (stage: Stage) => Promise<Partial<Record<EndpointCheckId, CheckVerdict>>>;
}

/** A scenario whose `run` gives a verdict for each of its checks, and for no other. */
export function defineScenario<Id extends EndpointCheckId>(scenario: {
  readonly checks: Record<Id, CheckText>;
  readonly needs?: EndpointCheckId;
  readonly run: (stage: Stage) => Promise<Record<Id, CheckVerdict>>;
}): Scenario {
  return scenario;
}
