import type { EndpointCheck, EndpointCheckId } from './report.js';

/** What is fixed of a check. */
interface CheckText extends Pick<EndpointCheck, 'title' | 'why' | 'paste'> {
  /** The remedy, unless the verdict has another. */
  readonly fix: string;
  /** If one of these checks failed, this one is skipped. */
  readonly explainedBy?: readonly EndpointCheckId[];
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

/** Each check: its texts, whatever its outcome, and which failures have the same cause as its own. */
export const checkTexts: Readonly<Record<EndpointCheckId, CheckText>> = {
  'probe-answers': {
    title: 'The probe countEffects answers',
    why: 'Only your own records show whether the endpoint acted, and how often.',
    fix: 'Call countEffects for a made-up payment: it must return 0 for a payment that it does not know. A URL must answer GET with status 200.',
  },
  reachable: {
    title: 'Answers over HTTP',
    why: 'Without an answer, your shop never learns of a payment that was received.',
    fix: 'Start the endpoint, and check the URL.',
  },
  'valid-accepted': {
    title: 'Accepts a valid callback',
    why: 'A payment whose callback is refused stays unpaid in your records.',
    fix: 'Answer 200, as callbackHandler does.',
  },
  'status-200': {
    title: 'Answers exactly 200',
    why: 'The interface expects HTTP 200 OK; it does not say whether another 2xx acknowledges a callback.',
    fix: 'Answer 200 with no body, as callbackHandler does.',
    paste: HANDLER,
  },
  'acknowledged-in-time': {
    title: 'Acknowledges a callback quickly',
    why: 'When the service stops waiting, it counts the callback as failed, and retries it.',
    fix: 'Record the change and answer; leave slow work (e-mail, shipping, other services) to a queue.',
  },
  'tampered-body': {
    title: 'Refuses a body that was changed after it was signed',
    why: 'Anyone who can change a callback in transit can turn an unpaid order into a paid one.',
    fix: COMPARE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'wrong-secret': {
    title: 'Refuses a signature made with another secret',
    why: 'Anyone who knows the URL could report payments that never happened.',
    fix: COMPARE,
    paste: HANDLER,
  },
  'missing-signature': {
    title: 'Refuses a callback without X-Signature',
    why: 'If leaving the header out skips the check, an attacker needs no secret.',
    fix: HEADERS,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'altered-signature': {
    title: 'Compares the whole signature',
    why: 'If a part of the signature is enough, it can be guessed: one character is right in one of 16 or 64 tries.',
    fix: 'Decode X-Signature, refuse it unless it has 32 bytes, and compare all of them with crypto.timingSafeEqual; callbackHandler does.',
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'malformed-body': {
    title: 'Refuses an unsigned body that is not a payment',
    why: 'Scanners send such requests all day; an exception may end the process that receives your callbacks.',
    fix: 'Verify the bytes before anything is parsed, and answer 401; catch what JSON.parse throws. callbackHandler does both.',
    paste: HANDLER,
    explainedBy: ['missing-signature'],
  },
  'stale-timestamp': {
    title: 'Refuses a timestamp older than the tolerance',
    why: 'A recorded callback could be sent again at any time, to report a payment a second time.',
    fix: TOLERANCE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'future-timestamp': {
    title: 'Refuses a timestamp further ahead than the tolerance',
    why: 'A callback dated in the future would stay valid until then, far longer than the tolerance.',
    fix: TOLERANCE,
    paste: HANDLER,
    explainedBy: ['wrong-secret'],
  },
  'delayed-callback': {
    title: 'Accepts a timestamp just inside the tolerance',
    why: 'A callback that waited in a queue or was retried still reports a payment.',
    fix: 'Allow the full tolerance, in the unit that the service sends, and keep the clock set by NTP.',
  },
  'raw-bytes': {
    title: 'Accepts any valid formatting of the JSON',
    why: 'The service may change spaces and escapes; a handler that serializes the JSON again then refuses authentic payments.',
    fix: 'Verify the bytes as received: mount callbackHandler before express.json(), or keep the raw body.',
    paste: HANDLER,
  },
  'extra-fields': {
    title: 'Accepts fields it does not know, and text in any script',
    why: 'The interface does not show every field; from the day the service adds one, no payment would be recorded.',
    fix: 'Ignore unknown fields, and verify bytes, not text: use no strict schema, and no setEncoding. callbackHandler does.',
  },
  'missing-fields': {
    title: 'Accepts a record whose providerReference is null and that has no createdAt',
    why: 'Nothing is decided by either: a payment without a provider is still a payment.',
    fix: 'Require only referenceNumber, merchantPaymentReference, status and updatedAt; callbackHandler does.',
  },
  'unknown-status': {
    title: 'Accepts a status it does not know',
    why: 'The interface lists no statuses beyond paid; after an error the service keeps retrying the same callback.',
    fix: 'Act on the statuses you know; record any other without acting on it, and answer 200.',
  },
  duplicate: {
    title: 'Acknowledges a callback that is delivered again',
    why: 'The service retries until it receives a 2xx, so a refused duplicate is retried until the service gives up, and may get your endpoint disabled.',
    fix: 'Answer 200 to a change that was already processed, as callbackHandler does.',
    paste: HANDLER,
  },
  simultaneous: {
    title: 'Acknowledges copies that arrive at the same moment, or asks for a retry',
    why: 'Copies arrive together after a network hiccup; one that is never acknowledged is retried again and again.',
    fix: 'Answer 200 once the change is processed, and 503 to a copy that arrives meanwhile; callbackHandler does.',
    paste: HANDLER,
    explainedBy: ['duplicate'],
  },
  'older-change': {
    title: 'Acknowledges an older change that arrives late',
    why: 'Callbacks overtake each other; an older one that is refused is retried again and again.',
    fix: 'Answer 200 to it and leave the newer status as it is, as callbackHandler does.',
    explainedBy: ['unknown-status'],
  },
  overtaking: {
    title: 'Does not acknowledge a callback whose order is not stored',
    why: 'A callback may overtake the transaction that stores its order. After a 2xx the service does not send it again: the payment is lost.',
    fix: "Store the order before the payment is created, and check how many rows your UPDATE changed: if none, throw new RetryLaterError('order not stored yet'), which callbackHandler answers with 503.",
    paste: "if (rowCount === 0) throw new RetryLaterError('order not stored yet');",
  },
  'large-body': {
    title: 'Refuses a body that is far too large',
    why: 'Without a cap, anyone can fill the memory of the process that receives your callbacks: a body must be read before it can be verified.',
    fix: 'Count the bytes as they arrive and answer 413 beyond a cap (callbackHandler: maxBodyBytes; express.raw: limit).',
    paste: HANDLER,
  },
  available: {
    title: 'Keeps accepting callbacks, whatever it received before',
    why: 'If one request can crash the process, the payments of other customers are lost.',
    fix: 'Its log says why: a process that ended, a connection or lock that is not released, or a firewall that blocks the sender. Catch every error of the handler, including rejected promises, and answer with a status.',
  },
  'valid-effect': {
    title: 'Acts once on a valid callback',
    why: 'After a 200 the service does not retry: what was not done by then is lost, and what was done twice is not undone.',
    fix: 'Act in one place, once for each change: look for a second listener, job or trigger that acts too.',
  },
  'unknown-status-effect': {
    title: 'Does not treat an unknown status as paid',
    why: 'A payment that failed or was cancelled would count as paid, and the goods would go out for nothing.',
    fix: "Test for status === 'paid', and store any other unchanged: no else branch may mean paid.",
    explainedBy: ['valid-effect'],
  },
  'duplicate-effect': {
    title: 'Acts once on a callback that is delivered again',
    why: 'When an answer is lost, the service retries: the order would ship twice.',
    fix: ONCE,
    paste: ONCE_LINE,
    explainedBy: ['valid-effect'],
  },
  'simultaneous-effect': {
    title: 'Acts once on copies that arrive at the same moment',
    why: 'Between checking whether a change is known and recording it, a copy can slip in: the order ships twice.',
    fix: `Let the store decide: insert under a unique key first, and act only when the insert succeeded. ${ONCE}`,
    paste: ONCE_LINE,
    explainedBy: ['duplicate-effect'],
  },
  'resigned-retry-effect': {
    title: 'Acts once on a retry with a new signature',
    why: 'A retry may carry a new timestamp and signature: a handler that recognises duplicates by those ships twice.',
    fix: ONCE,
    explainedBy: ['duplicate', 'duplicate-effect'],
  },
  'second-change-effect': {
    title: 'Acts on a second change of a payment, with the same updatedAt',
    why: 'A handler that recognises duplicates by the payment alone, or by payment and updatedAt, drops a change that it has not seen: the order stays unpaid.',
    fix: 'Recognise duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it. Of two changes with the same updatedAt neither is older: drop neither.',
    explainedBy: ['valid-effect', 'unknown-status', 'unknown-status-effect'],
  },
  'older-change-effect': {
    title: 'Does not let an older change undo a newer one',
    why: 'A payment that is paid falls back to an earlier status, and the order is held or cancelled.',
    fix: 'Keep updatedAt of the last change with the payment, compare it as a time (Date.parse) and not as text, and let an older change leave the status alone. With callbackHandler: set the status only when context.current is true.',
    explainedBy: ['valid-effect', 'unknown-status-effect'],
  },
  'late-paid-effect': {
    title: 'Acts on a change to paid that arrives after a newer change',
    why: 'When a delivery of paid fails, a newer change may be processed before its retry: an endpoint that drops older changes never ships what was paid.',
    fix: 'Run the effect of paid however old the change is, and let your database make sure that it runs once: UPDATE orders SET shipped_at = now() WHERE reference = $1 AND shipped_at IS NULL. callbackHandler calls onPayment for older changes too; only the status waits for context.current to be true.',
    explainedBy: ['second-change-effect'],
  },
};
