import { ApiError, ConnectionError, RequestError, RequestTimeoutError } from '../errors.js';
import type { Recovery } from './outbox.js';
import { isConflict, isSetupError, isVerdict, type Turn } from './sending.js';
import type { Cursor, Listed, OutboxStore, StoredPayment } from './store.js';

const PAGE_SIZE = 100;
const AT_ONCE = 8;

/**
 * Cleans up after crashes.
 *
 * @param resend sends a recorded payment, unless it has changed since
 * @throws {StoreError} when the store fails
 */
export async function recover(
  store: OutboxStore<never>,
  resend: (stored: StoredPayment) => Promise<Turn>,
): Promise<Recovery> {
  const pass = new Pass(resend);
  pass.unresolved = await store.expire();
  let after: Cursor | undefined;
  for (;;) {
    const page = await store.listRecorded({ olderThanMs: 0, after, limit: PAGE_SIZE });
    await pass.sendAll(page.map(({ stored }) => stored));
    if (pass.error !== undefined || page.length < PAGE_SIZE) break;
    const last = page.at(-1) as Listed;
    after = { atMs: last.stored.changedAtMs, key: last.key };
  }
  const { resent, unresolved, rejected, error } = pass;
  return {
    resent,
    unresolved,
    ...(rejected > 0 && { rejected }),
    ...(error !== undefined && { error }),
  };
}

class Pass {
  resent = 0;
  unresolved = 0;
  rejected = 0;
  /** The service can't be reached, or refuses this client: the other payments would fail too. */
  error: RequestError | undefined;
  #isOver = false;
  /** Whether the service has accepted or rejected a payment. */
  #isAnswered = false;
  readonly #resend: (stored: StoredPayment) => Promise<Turn>;

  constructor(resend: (stored: StoredPayment) => Promise<Turn>) {
    this.#resend = resend;
  }

  async sendAll(payments: readonly StoredPayment[]): Promise<void> {
    const waiting = payments.values();
    const sendWhile = async (mayContinue: () => boolean): Promise<void> => {
      while (mayContinue()) {
        const { value } = waiting.next();
        if (value === undefined) return;
        await this.#send(value);
      }
    };
    // One at a time at first: if the service is failing, each request under way leaves one more unresolved payment.
    await sendWhile(() => !this.#isOver && !this.#isAnswered);
    const sendSerially = () => sendWhile(() => !this.#isOver);
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, sendSerially));
    // Throws only after the others have ended: a program that exits earlier would leave their payments unresolved.
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }

  async #send(payment: StoredPayment): Promise<void> {
    try {
      const { stored, replayed, error } = await this.#resend(payment);
      if (replayed) return;
      this.resent += 1;
      if (stored?.state === 'created') this.#isAnswered = true;
      if (stored?.state !== 'unresolved') return;
      this.unresolved += 1;
      if (error instanceof RequestError && !isConflict(error)) this.#end(error);
    } catch (error) {
      this.#count(error);
    }
  }

  /** Counts payments that the service did not accept. Throws errors that need a person. */
  #count(error: unknown): void {
    const isAnswered = error instanceof ApiError && error.httpStatus !== 401;
    if (isAnswered) this.resent += 1;
    if (isAnswered && error.httpStatus !== 429 && !isSetupError(error)) {
      if (isVerdict(error)) {
        this.rejected += 1;
        this.#isAnswered = true;
      } else {
        // It may concern this payment alone, which stays recorded: the next one is tried.
        this.error ??= error;
      }
      return;
    }
    this.#isOver = true;
    const isAway = error instanceof ConnectionError || error instanceof RequestTimeoutError;
    if (!isAnswered && !isAway) throw error;
    this.#end(error);
  }

  #end(error: RequestError): void {
    this.#isOver = true;
    this.error ??= error;
  }
}
