import { subscribe } from 'node:diagnostics_channel';
import { parseUrl } from '../../protocol/url.js';

// fetch wraps the socket's error, and Node wraps the errors of several addresses in one.
const MAX_DEPTH = 4;

/** What an error of Node, undici or Bun may have. */
type SystemError = Readonly<Record<string, unknown>>;

// The name of the errors of undici's parser; in some versions their code (HPE_…) is undefined.
const PARSER_ERROR = 'HTTPParserError';

/** What caused an error: its cause, or one error for each address that was tried. */
function innerOf({ cause, errors }: SystemError): readonly unknown[] {
  return Array.isArray(errors) && errors.length > 0 ? errors : [cause];
}

/** The first machine-readable code in an error and its causes. */
export function findErrorCode(error: unknown, depth = MAX_DEPTH): string | undefined {
  if (depth === 0 || typeof error !== 'object' || error === null) return undefined;
  const { code, name } = error as SystemError;
  if (typeof code === 'string') return code;
  return name === PARSER_ERROR
    ? PARSER_ERROR
    : findErrorCode(innerOf(error as SystemError)[0], depth - 1);
}

// The last is what undici says of two lengths, and of one that no number can hold.
const UNREADABLE: readonly string[] = [
  PARSER_ERROR,
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
];

/** Whether the answer was not HTTP: the parser refused it, or its headers did not end. */
export function isUnreadableAnswer(error: unknown): boolean {
  const code = findErrorCode(error);
  if (code === undefined) return false;
  return code.startsWith('HPE_') || UNREADABLE.includes(code);
}

const MAX_INNER_ERRORS = 8;

/** The text of an error with those of its causes. */
export function findErrorText(error: unknown, depth = MAX_DEPTH): string {
  if (depth === 0 || typeof error !== 'object' || error === null) return '';
  const { message } = error as SystemError;
  const inner = innerOf(error as SystemError)
    .slice(0, MAX_INNER_ERRORS)
    .map((one) => findErrorText(one, depth - 1));
  const texts = [message, inner.filter(Boolean).join('; ')];
  return texts.filter((text) => typeof text === 'string' && text !== '').join(': ');
}

/** For each connect error that undici published, the origin that could not be reached. */
const unconnectedOrigins = new WeakMap<object, string>();
let isWatching = false;

/**
 * Records the connect errors that undici publishes, the one inside Node's `fetch` included. Only they say which
 * host a failed TLS handshake or a connect timeout belongs to.
 */
export function watchConnectErrors(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('undici:client:connectError', (message) => {
    const { error, connectParams } = message as {
      error: unknown;
      connectParams: Pick<URL, 'protocol' | 'host'>;
    };
    if (typeof error !== 'object' || error === null) return;
    unconnectedOrigins.set(error, `${connectParams.protocol}//${connectParams.host}`);
  });
}

/**
 * Whether an error proves that no connection to this origin was made, so that nothing was sent to it. A user's
 * fetch can fail for another reason after it has sent the request: a failure to connect elsewhere, or one that
 * does not say where, proves nothing.
 */
export function isConnectFailure(error: unknown, origin: string, depth = MAX_DEPTH): boolean {
  if (depth === 0 || typeof error !== 'object' || error === null) return false;
  const unconnected = unconnectedOrigins.get(error);
  if (unconnected !== undefined) return unconnected === origin;
  const known = error as SystemError;
  return (
    namesTarget(known, new URL(origin)) ||
    innerOf(known).every((one) => isConnectFailure(one, origin, depth - 1))
  );
}

// Bun's, without a syscall.
const REFUSED: readonly unknown[] = ['ConnectionRefused', 'ECONNREFUSED'];

/** Whether the error's own fields say that connecting to the target failed. */
function namesTarget(error: SystemError, target: URL): boolean {
  const { code, syscall, hostname, address, port, path } = error;
  if (syscall === 'getaddrinfo') return hostname === target.hostname;
  if (syscall === 'connect') {
    const targetPort = target.port || (target.protocol === 'https:' ? '443' : '80');
    return String(port) === targetPort && isAddressOf(address, target.hostname);
  }
  // Bun's errors carry the URL of the request.
  return (
    REFUSED.includes(code) && typeof path === 'string' && parseUrl(path)?.origin === target.origin
  );
}

const LOOPBACK: readonly unknown[] = ['127.0.0.1', '::1'];

// The addresses of other names are unknown here, and other services may share them.
function isAddressOf(address: unknown, hostname: string): boolean {
  if (hostname === 'localhost') return LOOPBACK.includes(address);
  return address === hostname.replace(/^\[(.*)\]$/, '$1');
}
