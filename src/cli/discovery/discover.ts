import { once } from 'node:events';
import type { ProfiledRepetition, ServiceProfile } from 'merchant-payments/mock-server';
import { type InvalidCase, invalidCases } from '../../protocol/service-profile.js';
import type { ReceivedCallbacks } from './callbacks.js';
import { DeadlineSignal } from './deadline-signal.js';
import {
  ProbeFailure,
  type ReceivedAnswer,
  sendCreation,
  sendInvalid,
  type Target,
} from './probes.js';
import { describeAnswer, findPath, identifierIn } from './profile.js';

interface Discovery {
  readonly target: Target;
  /** Absent when no callbacks are received. */
  readonly callbacks: ReceivedCallbacks | undefined;
  /** How long to wait for a callback, and for its retry. */
  readonly waitMs: number;
  /** Called as each step begins. */
  readonly onStep: (step: string) => void;
}

/** What a run has learned. */
export interface Discovered {
  readonly profile: ServiceProfile;
  /** References of the payments that were created, as far as the answers show. */
  readonly created: readonly string[];
}

/**
 * Sends requests whose answers the interface leaves open, and describes what the service does.
 *
 * @throws {ProbeFailure} when a valid creation fails: then the other answers mean nothing
 */
export async function discover({
  target,
  callbacks,
  waitMs,
  onStep,
}: Discovery): Promise<Discovered> {
  const notLearned: Record<string, string> = {};
  onStep('sending a valid creation');
  const creation = await sendCreation(target);
  assertAccepted(creation);
  const attempt = async (point: string, send: () => Promise<ReceivedAnswer>) => {
    onStep(`sending ${point}`);
    return send().catch((error: unknown) => {
      if (!(error instanceof ProbeFailure) || target.signal.aborted) throw error;
      notLearned[point] = error.message;
      return undefined;
    });
  };
  const repeated = await attempt('repeatedReference', () => sendCreation(target));
  const invalid = new Map<InvalidCase, ReceivedAnswer>();
  for (const which of invalidCases) {
    const answer = await attempt(`invalid.${which}`, () => sendInvalid(target, which));
    if (answer !== undefined) invalid.set(which, answer);
  }
  if (callbacks !== undefined) await waitForCallbacks(callbacks, { target, waitMs, onStep });
  const path = [creation, ...(repeated ? [repeated] : []), ...invalid.values()]
    .map(({ body }) => findPath(body, callbacks?.referenceNumbers ?? new Set()))
    .find((one) => one !== undefined);
  const describe = (answer: ReceivedAnswer) => describeAnswer(answer, path);
  const effect = repeated && effectOf(creation, repeated, path);
  if (repeated !== undefined && effect === undefined) {
    notLearned['repeatedReference'] =
      'the answers have no referenceNumber to distinguish one payment from two; with --listen, callbacks show which field it is';
  }
  return {
    profile: {
      version: 1,
      creation: describe(creation),
      ...(repeated && effect && { repeatedReference: { effect, answer: describe(repeated) } }),
      invalid: Object.fromEntries([...invalid].map(([which, one]) => [which, describe(one)])),
      callbacks: callbacks?.learned ?? {},
      notLearned: { ...notLearned, ...explainCallbacks(callbacks, waitMs) },
    },
    created: [
      creation,
      ...(effect === 'second-payment' && repeated ? [repeated] : []),
      ...invalid.values(),
    ]
      .filter(({ status }) => status < 300 || status === creation.status)
      .map(({ sent }) => String(sent['merchantPaymentReference'])),
  };
}

function assertAccepted({ status, body }: ReceivedAnswer): void {
  // A 3xx may lead to a payment page.
  if (status < 400) return;
  const { code } = (body ?? {}) as { readonly code?: unknown };
  const shown = typeof code === 'string' && /^\w{1,64}$/.test(code) ? ` ${code}` : '';
  throw new ProbeFailure(
    status === 401
      ? `the service refused the credentials (401${shown}): check MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET`
      : `the service refused a valid creation (${status}${shown}): give what it requires with --amount, --currency and --field`,
  );
}

function effectOf(
  creation: ReceivedAnswer,
  repeated: ReceivedAnswer,
  path: string | undefined,
): ProfiledRepetition['effect'] | undefined {
  if (repeated.status >= 400) return 'refused';
  const first = identifierIn(creation.body, path);
  const second = identifierIn(repeated.body, path);
  if (first === undefined || second === undefined) return undefined;
  return first === second ? 'same-payment' : 'second-payment';
}

async function waitForCallbacks(
  callbacks: ReceivedCallbacks,
  { target, waitMs, onStep }: Pick<Discovery, 'target' | 'waitMs' | 'onStep'>,
): Promise<void> {
  onStep(
    `waiting up to ${waitMs / 1000} s for a callback at ${callbacks.url}: change the status of ${target.prefix}-valid at the service, unless it changes automatically`,
  );
  if (!(await within(callbacks.first, waitMs, target.signal))) return;
  onStep(`waiting up to ${waitMs / 1000} s for its retry`);
  await within(callbacks.retried, waitMs, target.signal);
}

/** Resolves with whether the promise settles in time. */
async function within(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<boolean> {
  using deadline = new DeadlineSignal(signal, ms);
  const isOver = signal.aborted ? [] : once(deadline.signal, 'abort');
  await Promise.race([promise, isOver]);
  if (signal.aborted) throw new ProbeFailure('the run was interrupted');
  return !deadline.isOver;
}

function explainCallbacks(
  callbacks: ReceivedCallbacks | undefined,
  waitMs: number,
): Record<string, string> {
  if (callbacks === undefined) return { callbacks: 'callbacks are received only with --listen' };
  const { learned, refusals } = callbacks;
  if (learned.retrySigning !== undefined) return {};
  const within = `within ${waitMs / 1000} s`;
  if (learned.timestampUnit !== undefined) {
    return {
      'callbacks.retrySigning': `the callback was not retried ${within}; allow more time with --wait`,
    };
  }
  const reasons = [...refusals].join(', ');
  return {
    callbacks:
      reasons === ''
        ? `no callback of this run was received ${within}`
        : `callbacks were received, but none passed verification (${reasons})`,
  };
}
