import type { CheckText, EndpointCheckId } from './report.js';

const COMPARE =
  'Compare the HMAC of the received bytes with X-Signature and answer 401 when it differs, as callbackHandler does.';
const HEADERS =
  'Answer 401 when X-Signature or X-Timestamp is missing or malformed, before anything is computed from it; callbackHandler does.';
const TOLERANCE =
  'Refuse with 401 when Math.abs(now - X-Timestamp) is more than the tolerance, both in seconds and in both directions; callbackHandler does, with toleranceSeconds.';
const DUPLICATE_WHY =
  'The service retries until it receives a 2xx, so a refused duplicate is retried until the service gives up, and may get your endpoint disabled.';
const DUPLICATE = 'Answer 200 to a change that was already processed, as callbackHandler does.';
const ONCE =
  "Remember processed changes by callbackKey (payment, status, updatedAt) in the same transaction as the effect, or use callbackHandler with a store shared by all of the endpoint's processes.";
const STAYS_UP_WHY =
  'If one request can crash the process, the payments of other customers are lost.';
const OVERTAKING =
  "Store the order before the payment is created, and check how many rows your UPDATE changed: if none, throw new RetryLaterError('order not stored yet'), which callbackHandler answers with 503.";

/** The texts of each check, whatever its outcome. */
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
  },
  'other-signature': {
    title: 'Refuses the signature of another callback',
    why: 'A signature that was seen once would be valid for any payment.',
    fix: COMPARE,
  },
  'wrong-secret': {
    title: 'Refuses a signature made with another secret',
    why: 'Anyone who knows the URL could report payments that never happened.',
    fix: COMPARE,
  },
  'missing-signature': {
    title: 'Refuses a callback without X-Signature',
    why: 'If leaving the header out skips the check, an attacker needs no secret.',
    fix: HEADERS,
  },
  'missing-timestamp': {
    title: 'Refuses a callback without X-Timestamp',
    why: 'Without a timestamp an old callback can be replayed.',
    fix: HEADERS,
  },
  'empty-signature': {
    title: 'Refuses an empty X-Signature',
    why: 'An empty value often passes for "not given", or makes the comparison itself throw.',
    fix: HEADERS,
  },
  'changed-timestamp': {
    title: 'Refuses a timestamp that was changed after signing',
    why: 'A timestamp that is not verified can be set to now, so that old callbacks stay valid forever.',
    fix: 'Compute the HMAC of <X-Timestamp>.<raw body>, not of the body alone; callbackHandler does.',
  },
  'parsed-body': {
    title: 'Verifies the bytes received, not JSON made from them',
    why: 'A body that is parsed and serialized again is not what was signed: authentic callbacks fail, and unsigned bytes pass.',
    fix: 'Verify the raw body: mount callbackHandler before express.json(), or keep the bytes the framework received.',
  },
  'altered-signature': {
    title: 'Compares the whole signature',
    why: 'If a part of the signature is enough, it can be guessed: one character is right in one of 16 or 64 tries.',
    fix: 'Decode X-Signature, refuse it unless it has 32 bytes, and compare all of them with crypto.timingSafeEqual; callbackHandler does.',
  },
  'malformed-body': {
    title: 'Refuses an unsigned body that is not a payment',
    why: 'Scanners send such requests all day; an exception may end the process that receives your callbacks.',
    fix: 'Verify the bytes before anything is parsed, and answer 401; catch what JSON.parse throws. callbackHandler does both.',
  },
  'after-malformed-body': {
    title: 'Keeps working after a body that is not a payment',
    why: STAYS_UP_WHY,
    fix: 'Catch every error of the handler, including rejected promises, and answer with a status.',
  },
  'stale-timestamp': {
    title: 'Refuses a timestamp older than the tolerance',
    why: 'A recorded callback could be sent again at any time, to report a payment a second time.',
    fix: TOLERANCE,
  },
  'future-timestamp': {
    title: 'Refuses a timestamp further ahead than the tolerance',
    why: 'A callback dated in the future would stay valid until then, far longer than the tolerance.',
    fix: TOLERANCE,
  },
  'timestamp-unit': {
    title: 'Refuses a timestamp in another unit',
    why: 'A timestamp in milliseconds that is read as seconds is thousands of years ahead, so an endpoint that accepts it accepts any age.',
    fix: TOLERANCE,
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
  },
  unicode: {
    title: 'Accepts text in any script',
    why: "A customer's name or an order's label in another script must not keep its payment from being recorded.",
    fix: 'Verify bytes, not text, and decode as UTF-8: no setEncoding("latin1") or "binary". callbackHandler verifies the bytes.',
  },
  'extra-fields': {
    title: 'Accepts fields it does not know',
    why: 'The interface does not show every field; from the day the service adds one, no payment would be recorded.',
    fix: 'Ignore unknown fields: use no strict schema. callbackHandler keeps them.',
  },
  'missing-fields': {
    title: 'Accepts a record whose providerReference is null and that has no createdAt',
    why: 'Nothing is decided by either: a payment without a provider is still a payment.',
    fix: 'Require only referenceNumber, merchantPaymentReference, status and updatedAt; callbackHandler does.',
  },
  'header-case': {
    title: 'Accepts header names in capitals',
    why: 'Header names are case-insensitive, and a proxy may change their case.',
    fix: 'Look headers up case-insensitively; callbackHandler does.',
  },
  'unknown-status': {
    title: 'Accepts a status it does not know',
    why: 'The interface lists no statuses beyond paid; after an error the service keeps retrying the same callback.',
    fix: 'Act on the statuses you know; record any other without acting on it, and answer 200.',
  },
  duplicate: {
    title: 'Acknowledges a callback that is delivered again',
    why: DUPLICATE_WHY,
    fix: DUPLICATE,
  },
  simultaneous: {
    title: 'Acknowledges copies that arrive at the same moment, or asks for a retry',
    why: 'Copies arrive together after a network hiccup; one that is never acknowledged is retried again and again.',
    fix: 'Answer 200 once the change is processed, and 503 to a copy that arrives meanwhile; callbackHandler does.',
  },
  'resigned-retry': {
    title: 'Acknowledges a retry with a new signature',
    why: DUPLICATE_WHY,
    fix: DUPLICATE,
  },
  'second-change': {
    title: 'Acknowledges a second change of a payment',
    why: 'Each status change is sent until it is acknowledged.',
    fix: 'Answer 200 to every authentic change of a payment.',
  },
  'older-change': {
    title: 'Acknowledges an older change that arrives late',
    why: 'Callbacks overtake each other; an older one that is refused is retried again and again.',
    fix: 'Answer 200 to it and leave the newer status as it is, as callbackHandler does.',
  },
  'second-payment': {
    title: 'Accepts a second payment of the same order',
    why: 'One merchantPaymentReference can get two payments, for example when an order is created again after a lost answer; refused, the callback of the second one is retried again and again.',
    fix: 'Answer 200 to every authentic callback; a payment is identified by referenceNumber, not by merchantPaymentReference.',
  },
  overtaking: {
    title: 'Does not acknowledge a callback whose order is not stored',
    why: 'A callback may overtake the transaction that stores its order. After a 2xx the service does not send it again: the payment is lost.',
    fix: OVERTAKING,
  },
  'overtaking-redelivery': {
    title: 'Acknowledges that callback once its order is stored',
    why: 'The service retries until it receives a 2xx: this is how the payment reaches the order.',
    fix: `Remember a change as processed only when its work is done, in the same transaction. ${OVERTAKING}`,
  },
  'large-body': {
    title: 'Refuses a body that is far too large',
    why: 'Without a cap, anyone can fill the memory of the process that receives your callbacks: a body must be read before it can be verified.',
    fix: 'Count the bytes as they arrive and answer 413 beyond a cap (callbackHandler: maxBodyBytes; express.raw: limit).',
  },
  'after-large-body': {
    title: 'Keeps working after a body that is far too large',
    why: STAYS_UP_WHY,
    fix: 'Cap the body as it is read, before it is decoded or parsed.',
  },
  available: {
    title: 'Keeps accepting callbacks, whatever it received before',
    why: STAYS_UP_WHY,
    fix: 'Catch every error of the handler, including rejected promises, and answer with a status.',
  },
  'valid-effect': {
    title: 'Acts once on a valid callback',
    why: 'After a 200 the service does not retry: what was not done by then is lost, and what was done twice is not undone.',
    fix: 'Act in one place, once for each change: look for a second listener, job or trigger that acts too.',
  },
  'refused-effect': {
    title: 'Does nothing for a callback that it does not accept',
    why: 'An order that is marked paid before the signature is checked stays paid, whatever is answered afterwards.',
    fix: 'Verify first and act afterwards. callbackHandler calls onPayment for verified callbacks only.',
  },
  'unknown-status-effect': {
    title: 'Does not treat an unknown status as paid',
    why: 'A payment that failed or was cancelled would count as paid, and the goods would go out for nothing.',
    fix: "Test for status === 'paid', and store any other unchanged: no else branch may mean paid.",
  },
  'duplicate-effect': {
    title: 'Acts once on a callback that is delivered again',
    why: 'When an answer is lost, the service retries: the order would ship twice.',
    fix: ONCE,
  },
  'simultaneous-effect': {
    title: 'Acts once on copies that arrive at the same moment',
    why: 'Between checking whether a change is known and recording it, a copy can slip in: the order ships twice.',
    fix: `Let the store decide: insert under a unique key first, and act only when the insert succeeded. ${ONCE}`,
  },
  'resigned-retry-effect': {
    title: 'Acts once on a retry with a new signature',
    why: 'A retry may carry a new timestamp and signature: a handler that recognises duplicates by those ships twice.',
    fix: ONCE,
  },
  'second-change-effect': {
    title: 'Acts on a second change of a payment, with the same updatedAt',
    why: 'A handler that recognises duplicates by the payment alone, or by payment and updatedAt, drops a change that it has not seen: the order stays unpaid.',
    fix: 'Recognise duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it. Of two changes with the same updatedAt neither is older: drop neither.',
  },
  'older-change-effect': {
    title: 'Does not let an older change undo a newer one',
    why: 'A payment that is paid falls back to an earlier status, and the order is held or cancelled.',
    fix: 'Keep updatedAt of the last change with the payment, compare it as a time (Date.parse) and not as text, and let an older change leave the status alone. With callbackHandler: set the status only when context.current is true.',
  },
  'late-paid-effect': {
    title: 'Acts on a change to paid that arrives after a newer change',
    why: 'When a delivery of paid fails, a newer change may be processed before its retry: an endpoint that drops older changes never ships what was paid.',
    fix: 'Run the effect of paid however old the change is, and let your database make sure that it runs once: UPDATE orders SET shipped_at = now() WHERE reference = $1 AND shipped_at IS NULL. callbackHandler calls onPayment for older changes too; only the status waits for context.current to be true.',
  },
  'returning-status-effect': {
    title: 'Acts on a status that a payment reaches a second time',
    why: 'A payment may be paid, disputed and paid again: a handler that recognises duplicates by payment and status drops the last change, and the order stays disputed.',
    fix: 'Recognise duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it.',
  },
  'second-payment-effect': {
    title: 'Acts on a second payment of the same order',
    why: 'A handler that recognises duplicates by merchantPaymentReference drops the second payment: money arrives that your records do not show.',
    fix: 'Recognise duplicates by callbackKey (referenceNumber, status, updatedAt). If an order must ship only once, record each payment anyway, and let the probe count what is recorded.',
  },
  'overtaking-effect': {
    title: 'Acts once on a callback that overtook its order',
    why: 'What is done before the order is known is done again for the retry, or is recorded as done and never happens.',
    fix: `Look the order up before anything else, and roll everything back if it is missing. ${OVERTAKING}`,
  },
};
