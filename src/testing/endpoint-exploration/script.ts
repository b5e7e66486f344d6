import {
  boolean,
  listOf,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  wholeNumber,
} from '../../protocol/options.js';

/** The changes of a payment in the order in which they happen. */
export const exploredChanges = [
  'before',
  'paid',
  'after',
] as const satisfies readonly ExploredChange[];

/**
 * A change of a made-up payment. `paid` has that status; the changes `before` and `after` it have statuses that
 * no endpoint knows.
 */
export type ExploredChange = 'before' | 'paid' | 'after';

/** A callback of a script, which is processed once, however often it is sent. */
export interface ExploredCallback {
  /** Which payment of the script it belongs to: a whole number from 1 to 100. */
  readonly payment: number;
  /** Which of the payment's changes it reports. */
  readonly change: ExploredChange;
}

/** Sends a callback and waits for the answer. */
export interface DeliverStep extends ExploredCallback {
  /** The kind of step. */
  readonly do: 'deliver';
  /** How long ago it was signed, in seconds: a whole number from 1 to 86400. Default: just now. */
  readonly lateSeconds?: number | undefined;
  /** Whether it is sent at the same moment as the step before it, if that delivers too. */
  readonly atOnce?: boolean | undefined;
}

/** A step of a script. */
export type ExplorationStep =
  | DeliverStep
  | (ExploredCallback & {
      /**
       * `drop`: the connection breaks when half of the body is sent. `lose-answer`: it breaks when all is
       * sent, before or after the endpoint answers.
       */
      readonly do: 'drop' | 'lose-answer';
    })
  | {
      /** Stops the endpoint and starts it again. */
      readonly do: 'restart';
    };

const callback = {
  payment: wholeNumber({ min: 1, max: 100 }),
  change: oneOf(...exploredChanges),
};
const lost = { do: oneOf('drop', 'lose-answer'), ...callback };
const rules = {
  deliver: {
    do: oneOf('deliver'),
    ...callback,
    lateSeconds: optional(wholeNumber({ min: 1, max: 86_400, unit: 'seconds' })),
    atOnce: optional(boolean),
  },
  drop: lost,
  'lose-answer': lost,
  restart: { do: oneOf('restart') },
};
const kinds = oneOf('deliver', 'drop', 'lose-answer', 'restart');

const step: Rule<ExplorationStep> = (value, option) => {
  const kind = kinds((value as { do?: unknown } | null)?.do, `${option}.do`);
  return resolveOptions(value, rules[kind], { owner: option }) as ExplorationStep;
};

/** Validates a script. */
export const scriptRule: Rule<readonly ExplorationStep[]> = listOf(step, 'steps');
