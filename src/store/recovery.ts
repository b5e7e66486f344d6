import {
  func,
  type OptionRules,
  optional,
  resolveOptions,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import type {
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  RunningRecovery,
} from './payment-store.js';

export const lookUpRule = optional(
  func<NonNullable<RecoverOptions['lookUp']>>('that looks a payment up at the service'),
);

const rules = {
  everyMs: withDefault(60_000, timerMs()),
  lookUp: lookUpRule,
  onError: optional(func<NonNullable<RecoveryOptions['onError']>>('that takes an error')),
} satisfies OptionRules<RecoveryOptions>;

/**
 * Recovers now and again after each pause.
 *
 * @param isLogged whether `recover` itself logs its failures
 * @throws {InvalidOptionError} when an option is invalid
 */
export function startRecovery(
  recover: (options: RecoverOptions) => Promise<Recovery>,
  options: RecoveryOptions = {},
  isLogged: boolean,
): RunningRecovery {
  const { everyMs, lookUp, onError } = resolveOptions(options, rules);
  const report = onError?.bind(options) ?? (isLogged ? () => undefined : reportToConsole);
  const looked = lookUp && { lookUp: lookUp.bind(options) };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const run = async (): Promise<void> => {
    try {
      await recover({ ...looked });
    } catch (error) {
      await Promise.resolve(error)
        .then(report)
        .catch(() => undefined);
    }
    if (isStopped) return;
    timer = setTimeout(() => {
      running = run();
    }, everyMs);
    timer.unref();
  };
  let running = run();
  const stop = async (): Promise<void> => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

/** Shows only the code and the message: a driver adds the statement to its errors. */
function reportToConsole(error: unknown): void {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  console.error(`merchant-payments: recover failed: ${String(code)}: ${String(message)}`);
}
