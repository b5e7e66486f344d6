import { once } from 'node:events';
import type { ProfiledRepetition, ServiceProfile } from 'merchant-payments/mock-server';
import { JoinedSignal } from '../../protocol/joined-signal.js';
import { type InvalidCase, invalidCases } from '../../protocol/service-profile.js';
import type { HeardCallbacks } from './callbacks.js';
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
  /** Absent where no callbacks are received. */
  readonly heard: HeardCallbacks | undefined;
  /** How long to wait for a callback, and for its retry. */
  readonly waitMs: number;
  /** Called with the step that begins. */
  readonly onStep: (step: string) => void;
}

/** What a run has learned. */
export interface Discovered {
  readonly profile: ServiceProfile;
  /** References of the payments that exist now, as far as the answers tell. */
  readonly created: readonly string[];
}

/**
 * Sends what the interface leaves open, and describes what the service does.
 *
 * @throws {ProbeFailure} when a valid creation does not succeed: without it, nothing else says anything
 */
export async function discover({ target, heard, waitMs, onStep }: Discovery): Promise<Discovered> {
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
  if (heard !== undefined) await waitForCallbacks(heard, { target, waitMs, onStep });
  const path = [creation, ...(repeated ? [repeated] : []), ...invalid.values()]
    .map(({ body }) => findPath(body, heard?.referenceNumbers ?? new Set()))
    .find((one) => one !== undefined);
  const describe = (answer: ReceivedAnswer) => describeAnswer(answer, path);
  const effect = repeated && effectOf(creation, repeated, path);
  if (repeated !== undefined && effect === undefined) {
    notLearned['repeatedReference'] =
      'the answers hold no referenceNumber that tells one payment from two; with --listen, callbacks show which field it is';
  }
  return {
    profile: {
      version: 1,
      creation: describe(creation),
      ...(repeated && effect && { repeatedReference: { effect, answer: describe(repeated) } }),
      invalid: Object.fromEntries([...invalid].map(([which, one]) => [which, describe(one)])),
      callbacks: heard?.learned ?? {},
      notLearned: { ...notLearned, ...explainCallbacks(heard, waitMs) },
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
  // A 3xx may be a page to pay at.
  if (status < 400) return;
  const { code } = (body ?? {}) as { readonly code?: unknown };
  const shown = typeof code === 'string' && /^\w{1,64}$/.test(code) ? ` ${code}` : '';
  throw new ProbeFailure(
    status === 401
      ? `the service refused the credentials (401${shown}): check MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET`
      : `the service refused a valid creation (${status}${shown}): give what it asks for with --amount, --currency and --field`,
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
  heard: HeardCallbacks,
  { target, waitMs, onStep }: Pick<Discovery, 'target' | 'waitMs' | 'onStep'>,
): Promise<void> {
  onStep(
    `waiting up to ${waitMs / 1000} s for a callback at ${heard.url}: change the status of ${target.prefix}-valid at the service, where it does not change by itself`,
  );
  if (!(await within(heard.first, waitMs, target.signal))) return;
  onStep(`waiting up to ${waitMs / 1000} s for its retry`);
  await within(heard.retried, waitMs, target.signal);
}

/** Whether it settles in time. */
async function within(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<boolean> {
  using deadline = new JoinedSignal([signal], ms);
  const isOver = signal.aborted ? [] : once(deadline.signal, 'abort');
  await Promise.race([promise, isOver]);
  if (signal.aborted) throw new ProbeFailure('the run was interrupted');
  return !deadline.isOver;
}

function explainCallbacks(
  heard: HeardCallbacks | undefined,
  waitMs: number,
): Record<string, string> {
  if (heard === undefined) return { callbacks: 'callbacks are received with --listen only' };
  const { learned, refusals } = heard;
  if (learned.retrySigning !== undefined) return {};
  const within = `within ${waitMs / 1000} s`;
  if (learned.timestampUnit !== undefined) {
    return {
      'callbacks.retrySigning': `the callback was not retried ${within}; --wait gives more time`,
    };
  }
  const reasons = [...refusals].join(', ');
  return {
    callbacks:
      reasons === ''
        ? `no callback of this run was received ${within}`
        : `callbacks were received, but not one that verifies (${reasons})`,
  };
}
