/** The result of one check. Plain and frozen: it can be written as JSON. */
export interface EndpointCheck {
  /** The name of the check, the same in every run. */
  readonly id: string;
  /** What the endpoint should do, in one line. */
  readonly title: string;
  /** `skipped`: it could not be tried, so nothing is known; `detail` says why. */
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What was seen. */
  readonly detail: string;
  /** What to do when it failed. */
  readonly remedy: string;
  /** A line to paste for that. */
  readonly paste?: string;
  /** The HTTP status of the answer that decided; absent when none did. */
  readonly status?: number;
  /**
   * Of a failed check: the body of that answer, at most 200 characters on one line, without markup. The signing
   * secret is redacted, and an answer that repeats 40 characters of what was sent is withheld.
   */
  readonly answer?: string;
  /** The reference numbers of its made-up payments, to find them in the endpoint's log. */
  readonly referenceNumbers: readonly string[];
}

/** The result of {@link checkCallbackEndpoint}. Plain and frozen: it can be written as JSON. Contains no secret. */
export interface EndpointReport {
  /** The endpoint, without its query, which may hold a token. */
  readonly url: string;
  /** Whether no check failed, and a callback was acknowledged. See `counts.skipped` for what was not tried. */
  readonly passed: boolean;
  /**
   * The failed check to look at first: the checks that were skipped because of it, and perhaps other failures,
   * have the same cause. Absent when none failed.
   */
  readonly cause?: string;
  /** Every check. Those whose id ends in `-effect` are last: they are decided after deferred work. */
  readonly checks: readonly EndpointCheck[];
  /** How many checks had which outcome. */
  readonly counts: Readonly<Record<EndpointCheck['outcome'], number>>;
}

/** What is fixed of a check. */
interface CheckText<Id extends string> extends Pick<EndpointCheck, 'title' | 'paste'> {
  /** The remedy, unless the verdict has another. */
  readonly fix: string;
  /** If one of these checks failed, this one is skipped. */
  readonly explainedBy?: readonly Id[];
}

const COMPARE =
  'Compare the HMAC of the received bytes with X-Signature and answer 401 when it differs, as callbackHandler does.';
const HEADERS =
  'Answer 401 when X-Signature or X-Timestamp is missing or malformed, before anything is computed from it; callbackHandler does.';
const TOLERANCE =
  'Refuse with 401 when Math.abs(now - X-Timestamp) is more than the tolerance, both in seconds and in both directions; callbackHandler does, with toleranceSeconds.';
const ONCE =
  "Remember processed changes by callbackKey (payment, status, updatedAt) in the same transaction as the effect, or use callbackHandler with a store shared by all of the endpoint's processes.";

/** A line to paste that makes the package do it. */
const HANDLER = "app.all('/callbacks/payments', callbackHandler({ signingSecret, onPayment }));";

const ONCE_LINE =
  'callbackHandler({ signingSecret, store, onPayment }); // store: of merchant-payments/postgres, /mysql or /sqlite';

const define = <Id extends string>(texts: Readonly<Record<Id, CheckText<NoInfer<Id>>>>) => texts;

/** Each check: its texts, whatever its outcome, and which failures have the same cause as its own. */
export const checkTexts = define({
  reachable: {
    title: 'Answers over HTTP',
    fix: 'Start the endpoint, and check the URL.',
  },
  'valid-accepted': {
    title: 'Accepts a valid callback',
    fix: 'Answer 200, as callbackHandler does.',
  },
  'status-200': {
    title: 'Answers exactly 200',
    fix: 'Answer 200 with no body, as callbackHandler does.',
    paste: HANDLER,
  },
  'acknowledged-in-time': {
    title: 'Acknowledges a callback quickly',
    fix: 'Record the change and answer; leave slow work (e-mail, shipping, other services) to a queue.',
  },
  'tampered-body': {
    title: 'Refuses a body that was changed after it was signed',
    fix: COMPARE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'wrong-secret': {
    title: 'Refuses a signature made with another secret',
    fix: COMPARE,
    paste: HANDLER,
  },
  'missing-signature': {
    title: 'Refuses a callback without X-Signature',
    fix: HEADERS,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'altered-signature': {
    title: 'Compares the whole signature',
    fix: 'Decode X-Signature, refuse it unless it has 32 bytes, and compare all of them with crypto.timingSafeEqual; callbackHandler does.',
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'malformed-body': {
    title: 'Refuses an unsigned body that is not a payment',
    fix: 'Verify the bytes before anything is parsed, and answer 401; catch what JSON.parse throws. callbackHandler does both.',
    paste: HANDLER,
    explainedBy: ['missing-signature'],
  },
  'stale-timestamp': {
    title: 'Refuses a timestamp older than the tolerance',
    fix: TOLERANCE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'future-timestamp': {
    title: 'Refuses a timestamp further ahead than the tolerance',
    fix: TOLERANCE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'delayed-callback': {
    title: 'Accepts a timestamp just inside the tolerance',
    fix: 'Allow the full tolerance, in the unit that the service sends, and keep the clock set by NTP.',
  },
  'raw-bytes': {
    title: 'Accepts any valid formatting of the JSON',
    fix: 'Verify the bytes as received: mount callbackHandler before express.json(), or keep the raw body.',
    paste: HANDLER,
  },
  'extra-fields': {
    title: 'Accepts fields it does not know, and text in any script',
    fix: 'Ignore unknown fields, and verify bytes, not text: use no strict schema, and no setEncoding. callbackHandler does.',
  },
  'missing-fields': {
    title: 'Accepts a record whose providerReference is null and that has no createdAt',
    fix: 'Require only referenceNumber, merchantPaymentReference, status and updatedAt; callbackHandler does.',
  },
  'unknown-status': {
    title: 'Accepts a status it does not know',
    fix: 'Act on the statuses you know; record any other without acting on it, and answer 200.',
  },
  duplicate: {
    title: 'Acknowledges a callback that is delivered again',
    fix: 'Answer 200 to a change that was already processed, as callbackHandler does.',
    paste: HANDLER,
  },
  simultaneous: {
    title: 'Acknowledges copies that arrive at the same moment, or asks for a retry',
    fix: 'Answer 200 once the change is processed, and 503 to a copy that arrives meanwhile; callbackHandler does.',
    paste: HANDLER,
    explainedBy: ['duplicate'],
  },
  'older-change': {
    title: 'Acknowledges an older change that arrives late',
    fix: 'Answer 200 to it and leave the newer status as it is, as callbackHandler does.',
    explainedBy: ['unknown-status'],
  },
  overtaking: {
    title: 'Does not acknowledge a callback whose order is not stored',
    fix: "Store the order before the payment is created, and check how many rows your UPDATE changed: if none, throw new RetryLaterError('order not stored yet'), which callbackHandler answers with 503.",
    paste: "if (rowCount === 0) throw new RetryLaterError('order not stored yet');",
  },
  'large-body': {
    title: 'Refuses a body that is far too large',
    fix: 'Count the bytes as they arrive and answer 413 beyond a cap (callbackHandler: maxBodyBytes; express.raw: limit).',
    paste: HANDLER,
  },
  available: {
    title: 'Keeps accepting callbacks, whatever it received before',
    fix: 'Its log says why: a process that ended, a connection or lock that is not released, or a firewall that blocks the sender. Catch every error of the handler, including rejected promises, and answer with a status.',
  },
  'valid-effect': {
    title: 'Acts once on a valid callback',
    fix: 'Act in one place, once for each change: look for a second listener, job or trigger that acts too.',
  },
  'unknown-status-effect': {
    title: 'Does not treat an unknown status as paid',
    fix: "Test for status === 'paid', and store any other unchanged: no else branch may mean paid. If your code is right, countEffects counts more than what happens once for a paid payment.",
    explainedBy: ['valid-effect'],
  },
  'duplicate-effect': {
    title: 'Acts once on a callback that is delivered again',
    fix: ONCE,
    paste: ONCE_LINE,
    explainedBy: ['valid-effect'],
  },
  'simultaneous-effect': {
    title: 'Acts once on copies that arrive at the same moment',
    fix: `Let the store decide: insert under a unique key first, and act only when the insert succeeded. ${ONCE}`,
    paste: ONCE_LINE,
    explainedBy: ['duplicate-effect'],
  },
  'resigned-retry-effect': {
    title: 'Acts once on a retry with a new signature',
    fix: ONCE,
    explainedBy: ['duplicate', 'duplicate-effect'],
  },
  'second-change-effect': {
    title: 'Acts on a second change of a payment, with the same updatedAt',
    fix: 'Recognise duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it. Of two changes with the same updatedAt neither is older: drop neither.',
    explainedBy: ['valid-effect', 'unknown-status', 'unknown-status-effect'],
  },
  'older-change-effect': {
    title: 'Does not let an older change undo a newer one',
    fix: 'Keep updatedAt of the last change with the payment, compare it as a time (Date.parse) and not as text, and let an older change leave the status alone. With callbackHandler: set the status only when context.current is true.',
    explainedBy: ['valid-effect', 'unknown-status-effect'],
  },
  'late-paid-effect': {
    title: 'Acts on a change to paid that arrives after a newer change',
    fix: 'Run the effect of paid however old the change is, and let your database make sure that it runs once: UPDATE orders SET shipped_at = now() WHERE reference = $1 AND shipped_at IS NULL. callbackHandler calls onPayment for older changes too; only the status waits for context.current to be true.',
    explainedBy: ['older-change', 'second-change-effect'],
  },
});

export type EndpointCheckId = keyof typeof checkTexts;
