import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ProfiledCallbacks,
  ProfiledRepetition,
  ServiceProfile,
} from 'merchant-payments/mock-server';
import { operations } from '../../protocol/operations.js';
import {
  type InvalidCase,
  invalidCases,
  invalidCreations,
} from '../../protocol/service-profile.js';
import { exchange, TIMED_OUT } from '../network.js';
import type { ReceivedCallbacks } from './callbacks.js';
import { describeAnswer, findPath, identifierIn, type ReceivedAnswer } from './profile.js';

/** A service, and the payments to create there. */
export interface Target {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The fields of every creation except the reference. */
  readonly creation: Readonly<Record<string, unknown>>;
  /** The prefix of every reference. */
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A probe got no meaningful answer; the message is the reason. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
}

const INTERRUPTED = 'the run was interrupted';

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

/** Sends requests whose answers the interface leaves open, and describes what the service does. */
export async function discover(discovery: Discovery): Promise<Discovered> {
  const { target, callbacks, waitMs, onStep } = discovery;
  const notLearned: Record<string, string> = {};
  onStep('sending a valid creation');
  const creation = await sendCreation(target, 'valid');
  assertAccepted(creation);
  const attempt = async (point: string, which: InvalidCase | 'valid') => {
    onStep(`sending ${point}`);
    return sendCreation(target, which).catch((error: unknown) => {
      if (!(error instanceof ProbeFailure) || target.signal.aborted) throw error;
      notLearned[point] = error.message;
      return undefined;
    });
  };
  const repeated = await attempt('repeatedReference', 'valid');
  const invalid = new Map<InvalidCase, ReceivedAnswer>();
  for (const which of invalidCases) {
    const answer = await attempt(`invalid.${which}`, which);
    if (answer !== undefined) invalid.set(which, answer);
  }
  if (callbacks !== undefined) await waitForCallbacks(callbacks, discovery);
  const path = [creation, ...(repeated ? [repeated] : []), ...invalid.values()]
    .map(({ body }) => findPath(body, callbacks?.referenceNumbers ?? new Set()))
    .find((one) => one !== undefined);
  const describe = (answer: ReceivedAnswer) => describeAnswer(answer, path);
  const effect = repeated && effectOf(creation, repeated, path);
  if (repeated !== undefined && effect === undefined) {
    notLearned['repeatedReference'] =
      'the answers have no referenceNumber to distinguish one payment from two; with --listen, callbacks show which field it is';
  }
  const seconds = effect === 'second-payment' && repeated ? [repeated] : [];
  return {
    profile: {
      version: 1,
      creation: describe(creation),
      ...(repeated && effect && { repeatedReference: { effect, answer: describe(repeated) } }),
      invalid: Object.fromEntries([...invalid].map(([which, one]) => [which, describe(one)])),
      callbacks: callbacks?.learned ?? {},
      notLearned: { ...notLearned, ...explainCallbacks(callbacks, waitMs) },
    },
    created: [creation, ...seconds, ...invalid.values()]
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
  const [first, second] = [creation, repeated].map(({ body }) => identifierIn(body, path));
  if (first === undefined || second === undefined) return undefined;
  return first === second ? 'same-payment' : 'second-payment';
}

const POLL_INTERVAL_MS = 50;

/** Waits for a callback, and for its retry. */
async function waitForCallbacks(
  { learned, url }: ReceivedCallbacks,
  { target: { prefix, signal }, waitMs, onStep }: Discovery,
): Promise<void> {
  const isLearned = async (point: keyof ProfiledCallbacks): Promise<boolean> => {
    const end = performance.now() + waitMs;
    while (learned[point] === undefined && performance.now() < end) {
      await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {
        throw new ProbeFailure(INTERRUPTED);
      });
    }
    return learned[point] !== undefined;
  };
  const within = `waiting up to ${waitMs / 1000} s for`;
  onStep(
    `${within} a callback at ${url}: change the status of ${prefix}-valid at the service, unless it changes automatically`,
  );
  if (!(await isLearned('timestampUnit'))) return;
  onStep(`${within} its retry`);
  await isLearned('retrySigning');
}

function explainCallbacks(
  callbacks: ReceivedCallbacks | undefined,
  waitMs: number,
): Record<string, string> {
  if (callbacks === undefined) return { callbacks: 'callbacks are received only with --listen' };
  const { learned, refusals } = callbacks;
  const within = `within ${waitMs / 1000} s`;
  if (learned.timestampUnit === undefined) {
    const why =
      refusals.size === 0
        ? `no callback of this run was received ${within}`
        : `callbacks were received, but none passed verification (${[...refusals].join(', ')})`;
    return { callbacks: why };
  }
  if (learned.retrySigning !== undefined) return {};
  const why = `the callback was not retried ${within}; allow more time with --wait`;
  return { 'callbacks.retrySigning': why };
}

const MAX_ANSWER_BYTES = 65_536;

// Any other value may be data.
const MEDIA_TYPE = /^(?:application|text)\/[\w.+-]{1,64}(?=[\s;]|$)/;

/** Statuses that say nothing about the request: the service was busy or not reached. */
const TRANSIENT = [429, 502, 503, 504];

/** Sends a creation: one that should succeed, or one that should be refused. */
async function sendCreation(
  { creation, prefix, apiKey, apiSecret, baseUrl, timeoutMs, signal }: Target,
  which: InvalidCase | 'valid',
): Promise<ReceivedAnswer> {
  const { method, path } = operations['payments.create'];
  const changed: object | undefined = Object.hasOwn(invalidCreations, which)
    ? invalidCreations[which as keyof typeof invalidCreations]
    : undefined;
  const sent = { ...creation, merchantPaymentReference: `${prefix}-${which}`, ...changed };
  const pair =
    which === 'invalidCredentials' ? `invalid:${crypto.randomUUID()}` : `${apiKey}:${apiSecret}`;
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  const received = await exchange(new URL(`${baseUrl}${path}`), {
    method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      ...(which !== 'missingCredentials' && { authorization }),
    },
    body: Buffer.from(JSON.stringify(sent)),
    timeoutMs,
    signal,
    maxBytes: MAX_ANSWER_BYTES + 1,
  }).catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw new ProbeFailure(INTERRUPTED);
    throw new ProbeFailure(
      error.code === TIMED_OUT
        ? `no answer within ${timeoutMs} ms`
        : `the connection failed with ${error.code ?? error.name}`,
    );
  });
  const { status, headers, body } = received;
  if (TRANSIENT.includes(status)) throw new ProbeFailure(`the service answered ${status}`);
  if (body.byteLength > MAX_ANSWER_BYTES) {
    throw new ProbeFailure(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
  }
  const [contentType] = MEDIA_TYPE.exec(headers['content-type']?.toLowerCase() ?? '') ?? [];
  return { status, contentType, sent, ...parseBody(body.toString(), contentType) };
}

function parseBody(text: string, contentType = ''): Pick<ReceivedAnswer, 'body' | 'isJson'> {
  try {
    if (/[/+]json$/.test(contentType)) return { body: JSON.parse(text), isJson: true };
  } catch {
    // Text, whatever its type says.
  }
  return { body: text, isJson: false };
}
