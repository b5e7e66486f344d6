import type { CallbackFault, RequestFault } from '../../src/mock-server/index.js';
import { seededRandom } from '../chaos/seeded-random.js';

/** What the client may say of a call: that it succeeded, or an error's `requestOutcome`. */
export type Outcome = 'success' | 'accepted' | 'unknown' | 'rejected' | 'not-sent';

/** How the client makes a call. */
export type CallKind =
  | 'plain'
  | 'aborted before'
  | 'aborted at once'
  | 'aborted later'
  | 'to a closed port'
  | 'with invalid input';

/** Something that happens to a creation, and what may come of it. */
export interface Situation {
  readonly name: string;
  /** How often it happens, in relation to the others. */
  readonly weight: number;
  /** One for each request of the call, in turn. */
  readonly faults: readonly RequestFault[];
  readonly call: CallKind;
  /** The call's own deadline. */
  readonly timeoutMs?: number;
  /** What the client may say, and how many payments may then be there. */
  readonly ends: Readonly<Partial<Record<Outcome, 'none' | 'one' | 'none or one'>>>;
}

/** What is to happen to one payment. */
export interface PaymentPlan {
  readonly number: number;
  readonly merchantPaymentReference: string;
  readonly situation: Situation;
  readonly client: 'undici' | 'fetch' | 'observed';
  /** For a call that is aborted later: after how many milliseconds. */
  readonly abortAfterMs: number;
  /** If it comes to exist: its status changes, in order. */
  readonly changes: readonly ChangePlan[];
}

export interface ChangePlan {
  readonly status: string;
  readonly name: string;
  /** One for each attempt, in turn. */
  readonly faults: readonly CallbackFault[];
  /** Whether the next change waits until this one's first attempt has ended. */
  readonly isAwaited: boolean;
}

/** Long enough for a request to arrive on a machine at rest, short enough to be waited for often. */
const SHORT_TIMEOUT_MS = 400;

const fault = (type: RequestFault['type'], rest: object = {}) =>
  ({ on: 'request', type, ...rest }) as RequestFault;

/** Where a timeout or an abort can come before the request was sent, or before it was read. */
const GIVEN_UP = { unknown: 'none or one', 'not-sent': 'none' } as const;
const ANY_END = { ...GIVEN_UP, success: 'one', accepted: 'one' } as const;

const SITUATIONS: readonly Situation[] = [
  { name: 'nothing wrong', weight: 54, faults: [], call: 'plain', ends: { success: 'one' } },
  situation('delay', 3, { success: 'one' }, fault('delay', { delayMs: 40 })),
  {
    ...situation('delay beyond the deadline', 2, GIVEN_UP, fault('delay', { delayMs: 900_000 })),
    timeoutMs: SHORT_TIMEOUT_MS,
    // The clock may be moved ahead meanwhile.
    ends: ANY_END,
  },
  situation('401', 3, { rejected: 'none' }, fault('unauthorized')),
  situation('429 once', 2, { success: 'one' }, rateLimit(0)),
  situation('429, Retry-After 1', 1, { success: 'one' }, rateLimit(1)),
  situation('429, Retry-After 3600', 1, { rejected: 'none' }, rateLimit(3600)),
  situation('429 throughout', 1, { rejected: 'none' }, rateLimit(0), rateLimit(0), rateLimit(0)),
  situation(
    '429, then the answer is lost',
    1,
    { unknown: 'one' },
    rateLimit(0),
    fault('lost-answer'),
  ),
  situation(
    '429, then 503',
    1,
    { unknown: 'none' },
    rateLimit(0),
    fault('server-error', { status: 503 }),
  ),
  situation('500', 3, { unknown: 'none' }, fault('server-error')),
  situation('HTML page with 502', 2, { unknown: 'none' }, fault('html-error')),
  situation('malformed JSON', 3, { success: 'one' }, fault('malformed-json')),
  situation('truncated body', 2, { accepted: 'one' }, fault('truncated-body')),
  situation('empty body', 2, { success: 'one' }, fault('empty-body')),
  situation('reset before the headers', 2, { unknown: 'none' }, fault('reset-before-headers')),
  situation('reset in the body', 2, { accepted: 'one' }, fault('reset-in-body')),
  situation('created, then the answer is lost', 3, { unknown: 'one' }, fault('lost-answer')),
  {
    ...situation(
      'hang until the deadline',
      2,
      { unknown: 'none', 'not-sent': 'none' },
      fault('hang'),
    ),
    timeoutMs: SHORT_TIMEOUT_MS,
  },
  {
    ...situation('hang until aborted', 2, { unknown: 'none', 'not-sent': 'none' }, fault('hang')),
    call: 'aborted later',
  },
  {
    name: 'aborted before',
    weight: 1,
    faults: [],
    call: 'aborted before',
    ends: { 'not-sent': 'none' },
  },
  { name: 'aborted at once', weight: 2, faults: [], call: 'aborted at once', ends: ANY_END },
  { name: 'aborted at some moment', weight: 2, faults: [], call: 'aborted later', ends: ANY_END },
  {
    name: 'no server listens',
    weight: 1,
    faults: [],
    call: 'to a closed port',
    ends: { 'not-sent': 'none' },
  },
  {
    name: 'invalid input',
    weight: 1,
    faults: [],
    call: 'with invalid input',
    ends: { 'not-sent': 'none' },
  },
];

function situation(
  name: string,
  weight: number,
  ends: Situation['ends'],
  ...faults: readonly RequestFault[]
): Situation {
  return { name, weight, faults, call: 'plain', ends };
}

function rateLimit(retryAfterSeconds: number): RequestFault {
  return { on: 'request', type: 'rate-limit', retryAfterSeconds };
}

interface CallbackSituation {
  readonly name: string;
  readonly weight: number;
  readonly faults: readonly CallbackFault[];
  /** Would change what the payment comes to, or never end, if it befell the last change. */
  readonly isForLast: boolean;
}

const on = 'callback';
const CALLBACK_SITUATIONS: readonly CallbackSituation[] = [
  forAny('nothing wrong', 50),
  forAny('duplicate in turn', 5, { on, type: 'duplicate', copies: 2 }),
  forAny('duplicate at once', 5, { on, type: 'duplicate', copies: 2, mode: 'at-once' }),
  { ...forAny('reordered', 12, { on, type: 'reorder' }), isForLast: false },
  forAny('dropped', 4, { on, type: 'drop' }),
  forAny('dropped twice', 1, { on, type: 'drop' }, { on, type: 'drop' }),
  forAny(
    'dropped, then duplicate',
    2,
    { on, type: 'drop' },
    { on, type: 'duplicate', mode: 'at-once' },
  ),
  forAny('tampered body', 3, { on, type: 'tampered-body' }),
  forAny('wrong secret', 3, { on, type: 'wrong-secret' }),
];
const FOR_LAST = CALLBACK_SITUATIONS.filter(({ isForLast }) => isForLast);

function forAny(
  name: string,
  weight: number,
  ...faults: readonly CallbackFault[]
): CallbackSituation {
  return { name, weight, faults, isForLast: true };
}

export const situationNames: readonly string[] = SITUATIONS.map(({ name }) => name);
export const callbackSituationNames: readonly string[] = CALLBACK_SITUATIONS.map(
  ({ name }) => name,
);

const LIVES: readonly { readonly weight: number; readonly statuses: readonly string[] }[] = [
  { weight: 55, statuses: ['paid'] },
  { weight: 20, statuses: ['authorized', 'paid'] },
  { weight: 20, statuses: ['authorized', 'captured', 'paid'] },
  { weight: 5, statuses: ['failed'] },
];

/** What is to happen to the payment of that number: the same for the same seed. */
export function planPayment(seed: number, number: number): PaymentPlan {
  const random = seededRandom(Math.imul(seed ^ Math.imul(number, 0x9e3779b1), 0x85ebca6b));
  const situation = pick(SITUATIONS, random);
  const { statuses } = pick(LIVES, random);
  const client = random();
  return {
    number,
    merchantPaymentReference: `load-${seed}-${number}`,
    situation,
    client: client < 0.7 ? 'undici' : client < 0.85 ? 'observed' : 'fetch',
    abortAfterMs: situation.faults.length > 0 ? SHORT_TIMEOUT_MS : Math.floor(random() * 60),
    changes: statuses.map((status, index) => {
      const isLast = index === statuses.length - 1;
      const { name, faults } = pick(isLast ? FOR_LAST : CALLBACK_SITUATIONS, random);
      return { status, name, faults, isAwaited: random() < 0.4 };
    }),
  };
}

/** A part of the run. The `to` is not in it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export function planRange(seed: number, { from, to }: Range): PaymentPlan[] {
  return Array.from({ length: to - from }, (_, index) => planPayment(seed, from + index));
}

function pick<Item extends { readonly weight: number }>(
  items: readonly Item[],
  random: () => number,
): Item {
  const total = items.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  for (const item of items) {
    left -= item.weight;
    if (left < 0) return item;
  }
  return items[0] as Item;
}
