/** What must hold whatever is delivered twice, late, at once or out of order. */
export type ExplorationInvariant =
  | 'premise'
  | 'accepted'
  | 'once'
  | 'in-effect'
  | 'no-early-effect'
  | 'newest-status';

/** What is always said of an invariant. */
interface InvariantText {
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
}

export const invariants: Readonly<Record<ExplorationInvariant, InvariantText>> = {
  premise: {
    title: 'What the exploration needs is there',
    why: 'Only your own records show whether the endpoint acted, and how often.',
    remedy:
      'Ask countEffects by itself for a made-up payment: it must return 0 for one that it does not know. Then correct what is named.',
  },
  accepted: {
    title: 'Accepts each valid callback in the end',
    why: 'The service stops retrying at some point: the payment is lost to your shop.',
    remedy:
      'If it fails for one callback alone too, checkCallbackEndpoint finds the cause. Otherwise look in its log for a lock or a connection that is not given back.',
  },
  once: {
    title: 'Acts once on each change, however often it is sent',
    why: 'The service retries until it receives a 2xx: what is done twice is shipped, mailed or booked twice.',
    remedy:
      'Insert callbackKey (payment, status, updatedAt) under a unique constraint in the transaction of the effect, in a store that a restart and other processes share, as callbackHandler does with an inbox.',
  },
  'in-effect': {
    title: 'Acts on each change that it acknowledged',
    why: 'The service does not send again what was acknowledged: the payment is lost to your shop.',
    remedy:
      'Mark a change as processed in the transaction of its effect, neither before nor after it; distinguish changes by payment, status and updatedAt; act on paid also when a newer change is known.',
  },
  'no-early-effect': {
    title: 'Does not act on a callback that did not arrive whole',
    why: 'What did not arrive whole is not verified: anybody could have sent it.',
    remedy: 'Read the whole body and verify it before anything is done.',
  },
  'newest-status': {
    title: 'Ends with the status that the changes have in order',
    why: 'A late callback would set a payment back to a state that it has left.',
    remedy:
      'Write a status only where its updatedAt, compared as an instant, is newer than the stored one, in one statement (UPDATE … WHERE updated_at < …); with callbackHandler: only when stale is false.',
  },
};
