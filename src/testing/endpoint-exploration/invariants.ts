/** What must hold, even if callbacks are delivered twice, late, at once or out of order. */
export type ExplorationInvariant =
  | 'premise'
  | 'accepted'
  | 'once'
  | 'in-effect'
  | 'no-early-effect'
  | 'newest-status';

/** The fixed texts of an invariant. */
interface InvariantText {
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
}

export const invariants: Readonly<Record<ExplorationInvariant, InvariantText>> = {
  premise: {
    title: 'Meets the prerequisites of the exploration',
    why: 'Only your own records show whether the endpoint acted, and how often.',
    remedy:
      'Call countEffects for a made-up payment: it must return 0 for a payment that it does not know. Then correct what the detail names.',
  },
  accepted: {
    title: 'Accepts each valid callback in the end',
    why: 'The service stops retrying at some point: the payment is lost to your shop.',
    remedy:
      'If it also fails for a single callback, checkCallbackEndpoint finds the cause. Otherwise look in its log for a lock or a connection that is not released.',
  },
  once: {
    title: 'Acts once on each change, however often it is sent',
    why: 'The service retries until it receives a 2xx: what is done twice ships, mails or books twice.',
    remedy:
      'Insert callbackKey (payment, status, updatedAt) under a unique constraint in the transaction of the effect, in a store that a restart and other processes share, as callbackHandler does with an inbox.',
  },
  'in-effect': {
    title: 'Acts on each change that it acknowledged',
    why: 'The service does not send an acknowledged callback again: the payment is lost to your shop.',
    remedy:
      'Mark a change as processed in the transaction of its effect, neither before nor after it; distinguish changes by payment, status and updatedAt; act on paid even when a newer change is known.',
  },
  'no-early-effect': {
    title: 'Does not act on a callback that arrived only in part',
    why: "A body that arrived only in part can't be verified: anyone could have sent it.",
    remedy: 'Read the whole body and verify it before anything is done.',
  },
  'newest-status': {
    title: 'Ends with the same status as when the changes arrive in order',
    why: 'A late callback would set a payment back to an earlier state.',
    remedy:
      'Write a status only where its updatedAt, compared as an instant, is newer than the stored one, in one statement (UPDATE … WHERE updated_at < …); with callbackHandler: only when stale is false.',
  },
};
