import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfiledCallbacks } from 'merchant-payments/mock-server';
import type { CallbackReceiverOptions } from 'merchant-payments/receiver';
import { SECONDS_END } from '../../protocol/instant.js';
import type { SignatureEncoding, TimestampUnit } from '../../protocol/wire.js';
import { UsageError } from '../command.js';

/** What the callbacks of a run show. */
export interface HeardCallbacks extends AsyncDisposable {
  readonly url: string;
  /** Of the payments of this run. */
  readonly referenceNumbers: ReadonlySet<string>;
  readonly learned: ProfiledCallbacks;
  /** Why callbacks were refused: the codes of the errors. */
  readonly refusals: ReadonlySet<string>;
  /** Settles when the first callback has arrived. */
  readonly first: Promise<void>;
  /** Settles when it was retried. */
  readonly retried: Promise<void>;
}

interface Listening {
  readonly port: number;
  readonly host: string;
  readonly signingSecret: string;
  /** What the references of this run begin with. */
  readonly prefix: string;
}

type Handling = CallbackReceiverOptions['onPayment'];
type Callback = Parameters<Handling>[0];

// What is signed anew afterwards has another timestamp, also one in seconds.
const FIRST_ANSWER_AFTER_MS = 1_100;

/** Callbacks are judged here, not acted on: a clock that is wrong is no reason to learn nothing. */
const TOLERANCE_SECONDS = 86_400;

/**
 * Receives the callbacks of a run. The first is refused, so that it is retried. One of another payment is
 * refused too: the service retries it, by then at the endpoint that it is for.
 *
 * @throws {UsageError} when it can't listen
 * @throws {InvalidOptionError} for an invalid signing secret
 */
export async function hearCallbacks(listening: Listening): Promise<HeardCallbacks> {
  const { port, host, signingSecret, prefix } = listening;
  const { callbackHandler } = await import('merchant-payments/node');
  const { createCallbackVerifier, RetryLaterError } = await import('merchant-payments');
  // Refuses the secret now, if it has to.
  createCallbackVerifier({ signingSecret });
  const referenceNumbers = new Set<string>();
  const refusals = new Set<string>();
  const learned: { -readonly [Key in keyof ProfiledCallbacks]: ProfiledCallbacks[Key] } = {};
  const [first, retried] = [deferred(), deferred()];
  let awaited: { readonly key: string; readonly signature: string } | undefined;
  let isAnswered = false;

  const receive = async ({ payment, key }: Callback, headers: IncomingHttpHeaders) => {
    const { merchantPaymentReference, referenceNumber } = payment;
    if (!merchantPaymentReference.startsWith(prefix)) throw new RetryLaterError();
    const signature = String(headers['x-signature']);
    referenceNumbers.add(referenceNumber);
    learned.timestampUnit = unitOf(headers);
    learned.signatureEncoding = encodingOf(signature);
    if (awaited === undefined) {
      awaited = { key, signature };
      first.resolve();
      await sleep(FIRST_ANSWER_AFTER_MS);
      isAnswered = true;
      throw new RetryLaterError();
    }
    if (key !== awaited.key) return;
    // A copy that was sent beside it.
    if (!isAnswered) throw new RetryLaterError();
    learned.retrySigning ??= signature === awaited.signature ? 'original' : 'fresh';
    retried.resolve();
  };

  const server = createServer((request, response) => {
    const { headers } = request;
    response.shouldKeepAlive = false;
    const handle = callbackHandler({
      signingSecret,
      toleranceSeconds: TOLERANCE_SECONDS,
      timestampUnit: unitOf(headers),
      // It must not know a retry from before.
      inbox: {
        async process(_change, work) {
          await work({ tx: undefined, signal: new AbortController().signal, stale: false });
          return 'processed';
        },
      },
      onPayment: (callback) => receive(callback, headers),
      onRejected: ({ code }) => void refusals.add(code),
      onError: () => void refusals.add('INVALID_RECORD'),
    });
    void handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      reject(new UsageError(`--listen: listening on ${host}, port ${port} failed with ${code}`));
    });
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/`,
    referenceNumbers,
    learned,
    refusals,
    first: first.promise,
    retried: retried.promise,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      // The answer to a retry may be under way.
      const timer = setTimeout(() => server.closeAllConnections(), 2 * FIRST_ANSWER_AFTER_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const unitOf = (headers: IncomingHttpHeaders): TimestampUnit =>
  Number(headers['x-timestamp']) < SECONDS_END ? 'seconds' : 'milliseconds';

/** Of a signature that matches: what its text shows. */
function encodingOf(signature: string): SignatureEncoding {
  if (/^[\da-f]{64}$/i.test(signature)) return 'hex';
  if (/[+/]/.test(signature)) return 'base64';
  return /[-_]/.test(signature) || !signature.endsWith('=') ? 'base64url' : 'base64';
}
