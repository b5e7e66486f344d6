import type { CallbackFault, RequestFault } from '../../src/mock-server/index.js';

/** What the client may say of a call: that it succeeded, or an error's `requestOutcome`. */
export type Outcome = 'success' | 'accepted' | 'unknown' | 'rejected' | 'not-sent';

/** Something that happens to a creation, and what may come of it. */
export interface Situation {
  readonly name: string;
  /** How often it happens, in relation to the others. */
  readonly weight: number;
  /** One for each request of the call, in turn. */
  readonly faults: readonly RequestFault[];
  /** The call's own deadline, and when it is aborted, in milliseconds. */
  readonly timeoutMs?: number;
  readonly abortAfterMs?: number;
  /** What the client may say. */
  readonly ends: readonly Outcome[];
}

/** How many payments there may be after each outcome, whatever happened to the call. */
export const PAYMENTS: Readonly<Record<Outcome, readonly number[]>> = {
  success: [1],
  accepted: [1],
  unknown: [0, 1],
  rejected: [0],
  'not-sent': [0],
};

const ANY_END: readonly Outcome[] = ['success', 'accepted', 'unknown', 'not-sent'];
/** Long enough for a request to arrive on a machine at rest, short enough to be waited for often. */
const SHORT_MS = 400;

type Types = readonly RequestFault['type'][];

function situation(
  weight: number,
  types: Types,
  ends: readonly Outcome[],
  retryAfterSeconds = 0,
): Situation {
  const faults = types.map((type) => {
    const delay = type === 'delay' && { delayMs: 900_000 };
    const retryAfter = type === 'rate-limit' && { retryAfterSeconds };
    return { on: 'request', type, ...delay, ...retryAfter } as RequestFault;
  });
  return { name: types.join(', then ') || 'nothing wrong', weight, faults, ends };
}

export const SITUATIONS: readonly Situation[] = [
  situation(60, [], ['success']),
  { ...situation(2, ['delay'], ANY_END), timeoutMs: SHORT_MS },
  situation(3, ['unauthorized'], ['rejected']),
  situation(2, ['rate-limit'], ['success']),
  { ...situation(1, ['rate-limit'], ['rejected'], 3600), name: 'rate-limit for an hour' },
  situation(1, ['rate-limit', 'lost-answer'], ['unknown']),
  situation(3, ['server-error'], ['unknown']),
  situation(2, ['html-error'], ['unknown']),
  situation(3, ['malformed-json'], ['success']),
  situation(2, ['truncated-body'], ['accepted']),
  situation(2, ['empty-body'], ['success']),
  situation(2, ['reset-before-headers'], ['unknown']),
  situation(2, ['reset-in-body'], ['accepted']),
  situation(3, ['lost-answer'], ['unknown']),
  { ...situation(2, ['hang'], ['unknown', 'not-sent']), timeoutMs: SHORT_MS },
  { ...situation(2, ['hang'], ['unknown', 'not-sent']), name: 'hang, aborted', abortAfterMs: 400 },
  { ...situation(2, [], ANY_END), name: 'aborted at once', abortAfterMs: 0 },
  { ...situation(2, [], ANY_END), name: 'aborted later', abortAfterMs: 20 },
];

interface CallbackSituation {
  readonly weight: number;
  readonly faults: readonly CallbackFault[];
}

const on = 'callback';
export const CALLBACK_SITUATIONS: readonly CallbackSituation[] = [
  { weight: 60, faults: [] },
  { weight: 8, faults: [{ on, type: 'duplicate', copies: 2 }] },
  { weight: 8, faults: [{ on, type: 'duplicate', copies: 2, mode: 'at-once' }] },
  { weight: 6, faults: [{ on, type: 'drop' }] },
  { weight: 3, faults: [{ on, type: 'tampered-body' }] },
  { weight: 3, faults: [{ on, type: 'wrong-secret' }] },
];

export const LIVES: readonly { readonly weight: number; readonly statuses: readonly string[] }[] = [
  { weight: 60, statuses: ['paid'] },
  { weight: 35, statuses: ['authorized', 'captured', 'paid'] },
  { weight: 5, statuses: ['failed'] },
];

export function pick<Item extends { readonly weight: number }>(
  items: readonly Item[],
  random: () => number,
): Item {
  let left = random() * items.reduce((sum, { weight }) => sum + weight, 0);
  const found = items.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found ?? (items[0] as Item);
}
