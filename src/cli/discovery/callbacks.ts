import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfiledCallbacks } from 'merchant-payments/mock-server';
import type { CallbackReceiverOptions } from 'merchant-payments/receiver';
import { SECONDS_END } from '../../protocol/instant.js';
import type { SignatureEncoding, TimestampUnit } from '../../protocol/wire.js';
import { UsageError } from '../command.js';

/** The callbacks that a run has received. */
export interface ReceivedCallbacks extends AsyncDisposable {
  readonly url: string;
  /** The reference numbers of this run's payments. */
  readonly referenceNumbers: ReadonlySet<string>;
  readonly learned: ProfiledCallbacks;
  /** Why callbacks were refused: the codes of the errors. */
  readonly refusals: ReadonlySet<string>;
}

interface Listening {
  readonly port: number;
  readonly signingSecret: string;
  /** The prefix of this run's references. */
  readonly prefix: string;
}

type Handling = CallbackReceiverOptions['onPayment'];
type Callback = Parameters<Handling>[0];

// A retry that is signed after this time has another timestamp, even in whole seconds.
const FIRST_ANSWER_AFTER_MS = 1_100;

/** Wide, because nothing acts on these callbacks: even with a wrong clock they can be learned from. */
const TOLERANCE_SECONDS = 86_400;

/**
 * Receives the callbacks of a run. Refuses the first, so that it is retried. Refuses those of other payments
 * too, so that the service retries them until they reach their own endpoint.
 */
export async function receiveCallbacks(listening: Listening): Promise<ReceivedCallbacks> {
  const { port, signingSecret, prefix } = listening;
  const { callbackHandler } = await import('merchant-payments/node');
  const { createCallbackVerifier, RetryLaterError } = await import('merchant-payments');
  // An invalid secret is refused now.
  createCallbackVerifier({ signingSecret });
  const referenceNumbers = new Set<string>();
  const refusals = new Set<string>();
  const learned: { -readonly [Key in keyof ProfiledCallbacks]: ProfiledCallbacks[Key] } = {};
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
      await sleep(FIRST_ANSWER_AFTER_MS);
      isAnswered = true;
      throw new RetryLaterError();
    }
    if (key !== awaited.key) return;
    // A copy that was sent at the same time.
    if (!isAnswered) throw new RetryLaterError();
    learned.retrySigning ??= signature === awaited.signature ? 'original' : 'fresh';
  };

  const server = createServer((request, response) => {
    const { headers } = request;
    response.shouldKeepAlive = false;
    const handle = callbackHandler({
      signingSecret,
      toleranceSeconds: TOLERANCE_SECONDS,
      timestampUnit: unitOf(headers),
      // No deduplication: the retry must be seen.
      store: {
        async process(_change, work) {
          const { signal } = new AbortController();
          await work({ tx: undefined, signal, current: true });
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
      reject(new UsageError(`--listen: listening on port ${port} failed with ${code}`));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/`,
    referenceNumbers,
    learned,
    refusals,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      // The answer to a retry may still be in transit.
      const timer = setTimeout(() => server.closeAllConnections(), 2 * FIRST_ANSWER_AFTER_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

const unitOf = (headers: IncomingHttpHeaders): TimestampUnit =>
  Number(headers['x-timestamp']) < SECONDS_END ? 'seconds' : 'milliseconds';

/** The encoding of a valid signature, as far as its characters show. */
function encodingOf(signature: string): SignatureEncoding {
  if (/^[\da-f]{64}$/i.test(signature)) return 'hex';
  if (/[+/]/.test(signature)) return 'base64';
  return /[-_]/.test(signature) || !signature.endsWith('=') ? 'base64url' : 'base64';
}
