import { faultCatalogue } from '../faults/fault-catalogue.js';
import type { DeliveryAttempt } from './delivery.js';

// The dashboard and the command line use this too, so at run time it imports nothing but the faults.

type Sent = Pick<DeliveryAttempt, 'fault' | 'timestamp' | 'rawBody' | 'signedString'>;
type Ended = Sent & Pick<DeliveryAttempt, 'outcome' | 'response' | 'errorCode'>;

const REDIRECT =
  'The endpoint redirects, often to https or to an address with a slash: use the final address';

/** What a status without a body usually means. The package's handlers send none, unless `explainAnswers` is set. */
const STATUS_HINTS: Readonly<Record<number, string>> = {
  301: REDIRECT,
  302: 'The endpoint redirects, often to a login page: exempt this path',
  307: REDIRECT,
  308: REDIRECT,
  400: 'The body could not be read, for example because the connection broke',
  401: 'The signature or the timestamp was refused: compare the signing secret, and pass the raw body',
  403: 'Something in front of your handler refused the request, often CSRF protection: exempt this path',
  404: 'Nothing is mounted at this path: compare the callback URL with your route',
  405: 'The path has no POST route: the handler must take POST',
  408: 'The body did not arrive in time',
  413: 'The body exceeds a limit of your server',
  415: 'Your framework refuses the content type: let it pass application/json',
  422: 'The signature is right, but the body is no payment status record',
  429: 'A rate limit refused the request: exempt this path',
  500: 'Your code failed: look into its log, or at what onError received',
  502: 'A proxy did not reach your application',
  503: 'Your handler asks for a retry: another delivery of the payment is in progress, or it threw RetryLaterError, for example because the order is not stored yet',
  504: 'A proxy waited too long for your application',
};

const ERROR_HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at that address: start your application, or compare the port',
  ECONNRESET: 'Your endpoint broke the connection before it had answered',
  ENOTFOUND: 'There is no host of that name',
  EAI_AGAIN: 'The name of the host could not be looked up',
  ETIMEDOUT: 'The host did not answer at that address',
  HPE_INVALID: 'What answered does not speak HTTP, or speaks TLS: compare http and https',
  ERR_SSL_WRONG_VERSION_NUMBER: 'What answered does not speak TLS: use http',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed',
};

/** Whether an endpoint must refuse it: another secret made the signature, or what was sent is not what was signed. */
export function isForged({ fault, timestamp, rawBody, signedString }: Sent): boolean {
  if (fault === 'wrong-secret') return true;
  return `${timestamp}.${new TextDecoder().decode(rawBody)}` !== signedString;
}

/**
 * Says in a sentence why an attempt is not as it should be: a forgery that was accepted, the fault that the mock itself
 * applied, or else, where the endpoint's answer says nothing, what is usual.
 */
export function hintOf(attempt: Ended): string | undefined {
  const { outcome, response, errorCode, fault } = attempt;
  if (outcome === 'acknowledged') return isForged(attempt) ? ACCEPTED_FORGERY : undefined;
  if (isForged(attempt) || fault === 'drop') {
    const entry = fault === undefined ? undefined : faultCatalogue[fault];
    const what = entry && `by the fault ${fault}: ${entry.text}`;
    if (fault === 'drop') return `Not sent, ${what}.`;
    return `Forged ${what ?? 'by an edit after signing'}. Your endpoint should answer 401`;
  }
  if (outcome === 'timed-out')
    return 'Your endpoint did not answer in time: answer first, and do slow work afterwards';
  if (response === undefined) return ERROR_HINTS[errorCode ?? ''];
  return response.body.trim() === '' ? STATUS_HINTS[response.status] : undefined;
}

export const ACCEPTED_FORGERY =
  'Your endpoint accepted a forged callback: anyone could report a payment as paid. Verify the signature of the raw body';

const MAX_LINE = 200;
/** The rest of a longer answer is not read. */
const MAX_READ = 4096;

/** Returns what an answer's body says, in one line: the code and message of JSON, the text of HTML, or the first line. */
export function answerLine(body: string): string | undefined {
  const text = body.slice(0, MAX_READ).trim();
  const said = text.startsWith('{') ? lineOfJson(text) : undefined;
  const plain = said ?? (text.startsWith('<') ? withoutTags(text) : text);
  const line = plain.split(/[\r\n]/).find((one) => one.trim() !== '');
  return line === undefined ? undefined : line.trim().slice(0, MAX_LINE);
}

function lineOfJson(text: string): string | undefined {
  try {
    const { code, message, error } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const parts = [code, message ?? error].filter((part) => typeof part === 'string');
    return parts.length === 0 ? undefined : parts.join(': ');
  } catch {
    return undefined;
  }
}

/** In one line, without what stands in style and script elements. */
function withoutTags(html: string): string {
  const parts = html.split('<').map((part) => {
    const end = part.indexOf('>');
    return /^(?:style|script|title)\b/i.test(part) ? '' : part.slice(end + 1);
  });
  return parts
    .join(' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (entity, decimal, hex, name) => {
      const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      return ENTITIES[name?.toLowerCase()] ?? entity;
    })
    .split(/\s+/)
    .join(' ');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
