import { ApiError, RequestError } from '../errors.js';
import { causesOf } from '../protocol/describe-value.js';
import {
  func,
  type OptionRules,
  optional,
  resolveOptions,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import type { Tables } from './backend.js';
import { isConflict, isRefusal, refusesAll, toFailure, wasRefused } from './call-end.js';
import { pagesOf } from './list-attention.js';
import { type LookOptions, Looks, type LookUp } from './looks.js';
import type { Listed } from './payment-row.js';
import type {
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  RunningRecovery,
} from './payment-store.js';
import type { Turn } from './sending.js';

interface Recovering extends LookOptions {
  /** Sends a recorded payment, or repeats an unresolved one, unless it has changed since. */
  resend(key: string, isRepetition: boolean): Promise<Turn>;
  /** Looks a payment up at the service. */
  readonly lookUp: LookUp | undefined;
  /** Whether the service recognises a repeated creation, so that an unresolved payment may be sent again. */
  readonly sendsAgain: boolean;
}

/** @throws {StoreError} when the store fails; or what `lookUp` has thrown first, once all else is done */
export async function recover(backend: Tables, recovering: Recovering): Promise<Recovery> {
  const { resend, lookUp, sendsAgain } = recovering;
  const pass = new Pass(resend);
  pass.unresolved = await backend.expire();
  const looks = lookUp && new Looks(backend, lookUp, recovering);
  // What the service has refused is not repeated: it would refuse it again, and only a look tells whether it exists.
  const isRepeated = ({ stored }: Listed): boolean => sendsAgain && !wasRefused(stored.failure);
  await looks?.atUnresolved((listed) => !isRepeated(listed));
  const pages = (kind: 'recorded' | 'unresolved') => pagesOf((page) => backend.list(kind, page));
  for await (const page of pages('recorded')) {
    await pass.sendAll(page, false);
    if (pass.error !== undefined) break;
  }
  if (sendsAgain) {
    for await (const page of pages('unresolved')) {
      await pass.sendAll(page.filter(isRepeated), true);
      if (pass.isOver) break;
    }
  }
  await looks?.atWaiting();
  if (looks?.failure !== undefined) throw looks.failure.error;
  const { resent, unresolved, rejected, error } = pass;
  return {
    resent,
    unresolved,
    ...(looks && looks.found > 0 && { found: looks.found }),
    ...(rejected > 0 && { rejected }),
    ...(error !== undefined && { error }),
  };
}

class Pass {
  resent = 0;
  unresolved = 0;
  rejected = 0;
  /** The service can't be reached, or refuses this client: the other payments would fail too. */
  error: RequestError | undefined;
  /** Whether the other payments wait for the next pass. */
  isOver = false;
  readonly #resend: Recovering['resend'];

  constructor(resend: Recovering['resend']) {
    this.#resend = resend;
  }

  /** One at a time: if the service is failing, each request under way leaves one more unresolved payment. */
  async sendAll(payments: readonly Listed[], areRepetitions: boolean): Promise<void> {
    for (const { key } of payments) {
      if (this.isOver) return;
      this.#count(await this.#resend(key, areRepetitions), areRepetitions);
    }
  }

  #count({ stored, replayed, error }: Turn, isRepetition: boolean): void {
    if (replayed) return;
    const failed = error instanceof RequestError ? error : undefined;
    const failure = toFailure(failed);
    const mayExist =
      ['unknown', 'accepted'].includes(failure.requestOutcome) || isConflict(failure);
    if (failed !== undefined && !mayExist) {
      this.#countFailed(failed, isRepetition);
      return;
    }
    this.resent += 1;
    if (stored?.state !== 'unresolved') return;
    this.unresolved += 1;
    if (failed !== undefined && !isConflict(failure)) this.#end(failed);
  }

  /** Counts a payment that the service did not accept, or that was not sent. */
  #countFailed(error: RequestError, isRepetition: boolean): void {
    const isAnswered = error instanceof ApiError;
    if (isAnswered) this.resent += 1;
    if (!isAnswered || refusesAll(error)) this.#end(error);
    // It may concern this payment alone, which stays recorded: the next one is tried.
    else if (!isRefusal(error)) this.error ??= error;
    else if (isRepetition) this.unresolved += 1;
    else this.rejected += 1;
  }

  #end(error: RequestError): void {
    this.isOver = true;
    this.error ??= error;
  }
}

export const lookUpRule = optional(
  func<NonNullable<RecoverOptions['lookUp']>>('that looks a payment up at the service'),
);

const rules = {
  everyMs: withDefault(60_000, timerMs()),
  lookUp: lookUpRule,
  onError: optional(func<NonNullable<RecoveryOptions['onError']>>('that takes an error')),
} satisfies OptionRules<RecoveryOptions>;

/** @param isLogged whether `recover` itself logs its failures */
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
    await recover({ ...looked }).catch((error: unknown) => {
      // Not awaited: it may never settle.
      Promise.resolve(error)
        .then(report)
        .catch(() => undefined);
    });
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

/** Shows only the codes and the messages: a driver adds the statement to its errors. */
function reportToConsole(error: unknown): void {
  const texts = Array.from(causesOf(error), (cause) => {
    const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
    return [code, message].filter(Boolean).join(': ');
  });
  console.error(`merchant-payments: recover failed: ${texts.join('; caused by: ')}`);
}
