import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type PlainAnswer, parseJson } from '../api/http-messages.js';
import { ConnectionLoss, type WaitingRequests } from '../api/waiting-requests.js';
import type { CallbackFacts } from '../faults/fault-list.js';
import type { CheckedCallbackFault } from '../faults/fault-rules.js';

/** How many deliveries have their attempts counted. */
const MAX_COUNTED = 10_000;

/** Applies faults to callbacks that pass through a proxy. */
export class ProxiedCallbacks {
  readonly #waiting: WaitingRequests;
  /** Emits `sent <referenceNumber>` for each forwarded callback. */
  readonly #sent = new EventEmitter().setMaxListeners(0);
  /** Attempts by digest of the body, which retries share. */
  readonly #attempts = new Map<string, number>();

  constructor(waiting: WaitingRequests) {
    this.#waiting = waiting;
  }

  /** Returns what faults are matched against. Verifies nothing. */
  toFacts(body: Uint8Array): CallbackFacts {
    const digest = createHash('sha256').update(body).digest('base64');
    const attempt = (this.#attempts.get(digest) ?? 0) + 1;
    this.#attempts.set(digest, attempt);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > MAX_COUNTED && oldest) this.#attempts.delete(oldest);
    const record = (parseJson(Buffer.from(body).toString()) ?? {}) as Record<string, unknown>;
    const { referenceNumber, merchantPaymentReference, status } = record;
    return {
      referenceNumber: String(referenceNumber),
      merchantPaymentReference: String(merchantPaymentReference),
      status: String(status),
      attempt,
    };
  }

  /**
   * Forwards a callback as its fault says.
   *
   * @param send - may be called several times, or never
   * @throws {ConnectionLoss} when the callback is dropped, or the service disconnects while it is held
   */
  async send(
    fault: CheckedCallbackFault | undefined,
    { referenceNumber }: CallbackFacts,
    { signal, send }: { readonly signal: AbortSignal; readonly send: () => Promise<PlainAnswer> },
  ): Promise<PlainAnswer> {
    const event = `sent ${referenceNumber}`;
    if (fault?.type === 'drop') {
      throw new ConnectionLoss('reset', 'The callback was dropped by a fault');
    }
    if (fault?.type === 'late-callback') await this.#waiting.delay(signal, fault.delayMs);
    if (fault?.type === 'reorder') {
      await once(this.#sent, event, { signal }).catch(() => {
        throw new ConnectionLoss('reset', 'The service disconnected');
      });
    }
    const answers =
      fault?.type === 'duplicate' ? await sendCopies(fault, send) : ([await send()] as const);
    this.#sent.emit(event);
    return (
      answers.find(({ status }) => status >= 200 && status < 300) ?? (answers.at(-1) as PlainAnswer)
    );
  }
}

async function sendCopies(
  { copies, mode }: Extract<CheckedCallbackFault, { type: 'duplicate' }>,
  send: () => Promise<PlainAnswer>,
): Promise<readonly PlainAnswer[]> {
  if (mode === 'at-once') return Promise.all(Array.from({ length: copies + 1 }, send));
  const answers: PlainAnswer[] = [];
  for (let copy = 0; copy <= copies; copy += 1) answers.push(await send());
  return answers;
}
