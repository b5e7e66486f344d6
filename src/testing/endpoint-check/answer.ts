import type { EndpointCheck } from './checks.js';

/** How the endpoint answered. */
export interface Answer {
  /** HTTP status; absent without a complete answer. */
  readonly status?: number;
  /** Why there is no status. */
  readonly failure?: string;
  /** The code of the underlying error; absent after a timeout. */
  readonly failureCode?: string;
  readonly latencyMs: number;
  /** Where a redirect leads, without the query, which may hold a token. */
  readonly location?: string | undefined;
  /**
   * Whether it is a 503 with Retry-After to a payment whose reference was made up: an endpoint that looks its order up
   * asks for a retry, as it should.
   */
  readonly mayLackOrder?: boolean;
  /** Whether it asks for HTTP authentication. */
  readonly asksForLogin?: boolean;
  /** Returns the beginning of its body on one line, without markup, secrets and what was sent. */
  readonly quote?: () => string;
}

export const isAccepted = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

export function describeAnswer({ status, failure, location }: Answer): string {
  if (status === undefined) return `did not answer (${failure})`;
  if (status === 429) return 'answered 429, a rate limit';
  if (status < 300 || status >= 400) return `answered ${status}`;
  return `answered ${status}, a redirect${location ? ` to ${location}` : ''}, which is not followed`;
}

const START = 'Nothing listens there: start the endpoint, and check host and port of the URL.';
const HOST = 'Check the host in the URL, and the network path to it.';
const PROTOCOL =
  'Check the scheme and the port of the URL: http and https usually have different ports.';
const CERTIFICATE =
  'Give the endpoint a trusted certificate; for one from your own CA, set NODE_EXTRA_CA_CERTS.';
const BROKEN =
  'The endpoint closed the connection without an answer: its log says why. Catch every error of the handler, including rejected promises, and answer with a status.';
const SILENT =
  'The endpoint accepted the request but did not answer in time: end every request with a status, and leave slow work to a queue.';
const PROXY =
  'A proxy answered: the application behind it is not running, or took too long. See its log.';
const LIMIT =
  'Lift the rate limit for this run, and make sure that it allows what the service sends: callbacks arrive in bursts, and are retried.';

const SILENCES: readonly (readonly [code: RegExp, remedy: string])[] = [
  [/^ECONNREFUSED$/, START],
  [/^(ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, HOST],
  [/CERT|ALTNAME/, CERTIFICATE],
  [/^(EPROTO|ERR_SSL|HPE_)/, PROTOCOL],
];

/** Returns the remedy for an answer that does not depend on the callback. */
export function remedyOf({ status, failureCode, location }: Answer): string | undefined {
  if (status === undefined) {
    if (failureCode === undefined) return SILENT;
    return SILENCES.find(([code]) => code.test(failureCode))?.[1] ?? BROKEN;
  }
  if (status >= 300 && status < 400) {
    return `The service may not follow redirects: register ${location ?? 'the final address'} itself if that is the endpoint, or exempt this route from the redirect (a login, a trailing slash, http to https).`;
  }
  if (status === 429) return LIMIT;
  return status === 502 || status === 504 ? PROXY : undefined;
}

const SIGNATURE =
  'Check that the endpoint has the same signing secret, of the same environment, that its clock is right, and that it computes HMAC SHA-256 of <X-Timestamp>.<raw body>.';
const LOGIN =
  'Exempt this route from the login: the service signs its callbacks and does not log in.';
const GATE =
  'Something may refuse the callback before your handler: exempt this route from CSRF protection, and check firewalls and IP allowlists. Otherwise: ';
const ROUTE = 'Check the path of the URL, and that it accepts POST.';
const ORDER =
  'If the callback is refused because its order is not stored, give references of stored orders with the option merchantPaymentReference.';

const orOrder = (remedy: string): string => `${remedy} ${ORDER}`;

/** What a status says of a valid callback that no other way to sign it explains. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: SIGNATURE,
  403: GATE + SIGNATURE,
  404: orOrder(ROUTE),
  405: ROUTE,
  415: 'Accept the Content-Type application/json on this route.',
  419: GATE + SIGNATURE,
};

/** Returns the remedy when a valid callback is refused, and no other way to sign it explains that. */
export function remedyOfRefusal(answer: Answer): string {
  const { status = 0, asksForLogin } = answer;
  const other = orOrder(status >= 500 ? 'The endpoint failed: its log says why.' : SIGNATURE);
  return remedyOf(answer) ?? (asksForLogin ? LOGIN : (REFUSALS[status] ?? other));
}

/** The remedy when the signature was accepted, but the callback was refused. */
export const REFUSED_RECORD = orOrder(
  'The signature was accepted: the code after the verification refused the callback, and its log says why (with callbackHandler, pass logger).',
);

/** How a check ended. */
export interface CheckVerdict {
  readonly outcome: EndpointCheck['outcome'];
  readonly detail: string;
  /** The answer that decided. */
  readonly answer?: Answer | undefined;
  /** The remedy, if it is more specific than that of the check. */
  readonly remedy?: string | undefined;
  /** A line to paste for it. */
  readonly paste?: string | undefined;
  /** Whether nothing else can be told: the rest is skipped. */
  readonly isFatal?: boolean;
}

/** A check that can't be made, for another reason than the endpoint's answer. The message is shown. */
export class CheckFailure extends Error {}

const verdictOf =
  (outcome: EndpointCheck['outcome']) =>
  (detail: string, answer?: Answer): CheckVerdict => ({ outcome, detail, answer });
export const pass = verdictOf('passed');
export const fail = verdictOf('failed');
export const skip = verdictOf('skipped');

/** Makes a failure skip all other checks. */
export const fatal = (verdict: CheckVerdict): CheckVerdict =>
  verdict.outcome === 'failed' ? { ...verdict, isFatal: true } : verdict;

/** Checks the answer to a callback that should be accepted. `what` was sent; it begins a sentence. */
export function checkAccepted(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  if (isAccepted(answer)) return pass(seen, answer);
  if (answer.mayLackOrder)
    return skip(
      'not judged: the endpoint answered 503 with Retry-After, as it should for an order that it does not know; give references of stored orders with the option merchantPaymentReference',
    );
  return { ...fail(seen, answer), remedy: remedyOf(answer) };
}

/** Checks the answer to a callback that should be refused. */
export function checkRefused(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  const { status = 0 } = answer;
  if (isAccepted(answer)) return fail(`${seen}, as if the service had sent it`, answer);
  // A rate limit says nothing about this callback.
  if (status >= 400 && status < 500 && status !== 429) return pass(seen, answer);
  const suffix = status >= 500 ? ', but it should have refused it with 401' : '';
  return { ...fail(seen + suffix, answer), remedy: remedyOf(answer) };
}
