import { randomInt } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import {
  func,
  invalidOption,
  matching,
  type OptionRules,
  optional,
  type Resolved,
  resolveOptions,
  wholeNumber,
} from '../../protocol/options.js';
import {
  type CheckCallbackEndpointOptions,
  type ResolvedCheckOptions,
  resolveCheckOptions,
} from '../endpoint-check/options.js';
import { type ExplorationStep, scriptRule } from './script.js';

interface OwnOptions {
  /**
   * How many schedules to try: a whole number from 1 to 1000000.
   * @default 100; with `script` none
   */
  schedules?: number | undefined;
  /**
   * The seed of the schedules: a whole number from 0. The same seed and `toleranceSeconds` make the same
   * schedules.
   * @default a random one, which is in the report
   */
  seed?: number | undefined;
  /**
   * Stops the endpoint's process and starts it again; settles when the old one has ended. The run then
   * waits until the endpoint answers, 60 seconds in all.
   * @default none: no schedule has a restart
   */
  restart?: (() => void | PromiseLike<void>) | undefined;
  /** Called with the number of schedules that passed, in bursts. If it throws, the run ends. */
  onProgress?: ((schedules: number) => void) | undefined;
  /** Runs only this script, for example that of a report: at most 1000 steps. */
  script?: readonly ExplorationStep[] | undefined;
}

/** Options of {@link exploreCallbackEndpoint}. */
export interface ExploreCallbackEndpointOptions
  extends OwnOptions,
    Pick<
      CheckCallbackEndpointOptions,
      | 'signingSecret'
      | 'signatureEncoding'
      | 'timestampUnit'
      | 'toleranceSeconds'
      | 'timeoutMs'
      | 'effectCounts'
      | 'effectsWithinMs'
      | 'signal'
    > {
  /** As in {@link CheckCallbackEndpointOptions}; without it nothing could be judged. */
  countEffects: NonNullable<CheckCallbackEndpointOptions['countEffects']>;
  /**
   * Returns the merchantPaymentReference of a payment; for an endpoint that accepts only references of
   * existing orders.
   * @default a random `check-…`
   */
  merchantPaymentReference?: (() => string | PromiseLike<string>) | undefined;
}

const MAX_STEPS = 1_000;

const rules = {
  schedules: optional(wholeNumber({ min: 1, max: 1_000_000 })),
  seed: optional(wholeNumber({})),
  restart: optional(func<NonNullable<OwnOptions['restart']>>('that restarts the endpoint')),
  onProgress: optional(func<NonNullable<OwnOptions['onProgress']>>('that takes a number')),
  script: optional(scriptRule),
} satisfies OptionRules<OwnOptions>;

const reference = optional(
  matching<NonNullable<ExploreCallbackEndpointOptions['merchantPaymentReference']>>(
    'a function that returns a reference for each payment',
    (value) => typeof value === 'function',
  ),
);

export interface ResolvedExploreOptions extends Resolved<typeof rules> {
  readonly schedules: number;
  readonly seed: number;
  readonly check: ResolvedCheckOptions;
}

/** @throws {InvalidOptionError} naming the option */
export function resolveExploreOptions(
  url: unknown,
  options: ExploreCallbackEndpointOptions,
): ResolvedExploreOptions {
  const { schedules, seed, restart, onProgress, script, ...others }: Partial<typeof options> =
    Object(options);
  const check = resolveCheckOptions(url, others as CheckCallbackEndpointOptions);
  if (check.countEffects === undefined) {
    const expected = 'a function or a URL that returns how often your code acted on a payment';
    throw invalidOption('countEffects', expected, undefined);
  }
  reference(check.merchantPaymentReference, 'merchantPaymentReference');
  const own = resolveOptions({ schedules, seed, restart, onProgress, script }, rules);
  if (own.script !== undefined) refuseScript(own);
  return Object.freeze({
    ...own,
    check,
    schedules: own.schedules ?? 100,
    seed: own.seed ?? randomInt(2 ** 32),
  });
}

function refuseScript({ script = [], schedules, seed, restart }: Resolved<typeof rules>): void {
  const refuse = (option: string, why: string) =>
    new InvalidOptionError(option, `${option} ${why}`);
  if (script.length < 1 || script.length > MAX_STEPS) {
    throw refuse('script', `must have 1 to ${MAX_STEPS} steps; received ${script.length}`);
  }
  if (schedules !== undefined || seed !== undefined) {
    throw refuse(
      seed === undefined ? 'schedules' : 'seed',
      "can't be combined with script; leave one of them out",
    );
  }
  if (restart === undefined && script.some((step) => step.do === 'restart')) {
    throw refuse(
      'restart',
      'is missing: the script restarts the endpoint; give a function that does so',
    );
  }
}
