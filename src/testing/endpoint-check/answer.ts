/** How the endpoint answered. */
export interface Answer {
  /** HTTP status; absent without a complete answer. */
  readonly status?: number;
  /** Why there is none. */
  readonly failure?: string;
  /** The code of the error behind it; absent when the time ran out. */
  readonly failureCode?: string;
  readonly latencyMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** The `Date` header. */
  readonly date?: string | undefined;
  /** Where a redirect leads, without the query, which may hold a token. */
  readonly location?: string | undefined;
  /** Whether it asks for HTTP authentication. */
  readonly asksForLogin?: boolean;
  /** The beginning of its body on one line, without markup, secrets and what was sent. */
  readonly quote?: () => string;
}

export const isAccepted = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

export function describeAnswer({ status, failure, location }: Answer): string {
  if (status === undefined) return `gave no answer (${failure})`;
  if (status === 429) return 'answered 429, a rate limit';
  if (status < 300 || status >= 400) return `answered ${status}`;
  return `answered ${status}, a redirect${location ? ` to ${location}` : ''}, which is not followed`;
}

const START = 'Nothing listens there: start the endpoint, and check host and port of the URL.';
const HOST = 'Check the host in the URL, and the network on the way to it.';
const PROTOCOL =
  'Check the scheme and the port of the URL: http and https differ, and so may ports.';
const CERTIFICATE =
  'Give the endpoint a certificate that is trusted; for one of your own set NODE_EXTRA_CA_CERTS.';
const BROKEN =
  'It closed the connection without an answer: its log says why. Catch what the handler throws, rejected promises included, and answer with a status.';
const SILENT =
  'It accepted the request and did not answer in time: end every request with a status, and leave slow work to a queue.';
const PROXY =
  'A proxy answered: the application behind it did not run, or took too long. See its log.';
const LIMIT =
  'Lift the rate limit for this run, and see that it lets through what the service sends: callbacks come in bursts, and it retries.';

const SILENCES: readonly (readonly [code: RegExp, remedy: string])[] = [
  [/^ECONNREFUSED$/, START],
  [/^(ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, HOST],
  [/CERT|ALTNAME/, CERTIFICATE],
  [/^(EPROTO|ERR_SSL|HPE_)/, PROTOCOL],
];

/** What to do about an answer that has nothing to do with the callback it was given to. */
export function remedyOf(answer: Answer): string | undefined {
  const { status, failureCode, location } = answer;
  if (status === undefined) {
    if (failureCode === undefined) return SILENT;
    return SILENCES.find(([code]) => code.test(failureCode))?.[1] ?? BROKEN;
  }
  if (status >= 300 && status < 400) {
    const where = location === undefined ? 'the address that answers' : location;
    return `The service need not follow a redirect: register ${where} itself if that is the endpoint, or take this route out of what redirects (a login, a trailing slash, http to https).`;
  }
  if (status === 429) return LIMIT;
  return status === 502 || status === 504 ? PROXY : undefined;
}

const SIGNATURE =
  'Check that the endpoint has the same signing secret, of the same environment, and computes HMAC SHA-256 of <X-Timestamp>.<raw body>.';
const LOGIN =
  'Exempt this route from the login: the service signs its callbacks and does not log in.';
const GATE =
  'Something may refuse it before your handler: exempt this route from CSRF protection, and look at firewall and lists of addresses. Otherwise: ';
const ROUTE = 'Check the path of the URL, and that it takes POST.';
const ORDER =
  'If it is refused since its order is not stored, give references of stored orders by merchantPaymentReference.';

interface Remedy {
  readonly remedy: string;
  /** The option that it names. */
  readonly option?: 'merchantPaymentReference';
}

const orOrder = (remedy: string): Remedy => ({
  remedy: `${remedy} ${ORDER}`,
  option: 'merchantPaymentReference',
});

/** What to do when a valid callback is refused and no other way to sign it explains that. */
export function remedyOfRefusal(answer: Answer): Remedy {
  const { status = 0, asksForLogin } = answer;
  const remedy = remedyOf(answer);
  if (remedy !== undefined) return { remedy };
  if (asksForLogin) return { remedy: LOGIN };
  if (status >= 500) return orOrder('It failed: its log says why.');
  if (status === 401) return { remedy: SIGNATURE };
  if (status === 403 || status === 419) return { remedy: GATE + SIGNATURE };
  if (status === 404) return orOrder(ROUTE);
  if (status === 405) return { remedy: ROUTE };
  if (status === 415) return { remedy: 'Accept the Content-Type application/json on this route.' };
  return orOrder(SIGNATURE);
}

/** What to do when the signature was right and the callback was refused all the same. */
export function remedyOfRecord(answer: Answer): Remedy {
  const remedy = remedyOf(answer);
  if (remedy !== undefined) return { remedy };
  return orOrder(
    'The signature was right: what comes after the verification refused it, and its log says why.',
  );
}

/** What to do when the endpoint stopped to work in the middle of the run. */
export function remedyOfOutage(answer: Answer): string {
  const { failureCode, status = 0 } = answer;
  if (failureCode === 'ECONNREFUSED') {
    return 'The process ended: its log says why. Catch what the handler throws, rejected promises included, and answer with a status.';
  }
  return (
    remedyOf(answer) ??
    (status >= 500
      ? 'Its log says why: a connection or a lock that is not given back, or a state that one request spoils.'
      : 'Look for what shuts the sender out after refused requests, such as a firewall or a list of addresses, and for orders that ran out.')
  );
}
