import { InboxError } from '../errors.js';
import {
  describeFailure,
  type FailurePolicy,
  type FailureText,
  isFailure,
} from './failed-changes.js';
import type { InboxEvent } from './inbox.js';

/** What a store has kept of a change, and of the earlier ones of its payment, when the change is claimed. */
export interface SeenFailures {
  /** Of the change itself. */
  readonly own: 'failed' | 'parked' | undefined;
  /** Whether an earlier change of the payment is parked. */
  readonly behindParked: boolean;
}

/** What most claims see. */
export const NOTHING_SEEN: SeenFailures = Object.freeze({ own: undefined, behindParked: false });

/** A failure for a store to keep. */
export interface NewFailure {
  /** False for a change that was parked without a run. */
  readonly ran: boolean;
  /** From how many attempts on the change is parked; 0 for at once, undefined for never. */
  readonly parkFrom: number | undefined;
  readonly error: FailureText;
  /** Called by a store that keeps bodies. Undefined when the body is not known. */
  getRawBody(): Uint8Array | undefined;
}

/** A failure as it is kept. */
export interface KeptFailure {
  readonly attempts: number;
  readonly parked: boolean;
}

/**
 * Keeps a failure, apart from the transaction that failed. Undefined when the change was processed
 * meanwhile, and nothing is kept.
 */
export type KeepFailure = (failure: NewFailure) => Promise<KeptFailure | undefined>;

/** The transaction of a claim: no other change of the payment is claimed before its end. */
export interface ClaimTransaction {
  /** Marks where it is now. */
  mark(): Promise<unknown>;
  /** Undoes what was written since the mark, and keeps the failure. */
  readonly keep: KeepFailure;
}

/**
 * One delivery at an inbox that keeps failures: whether it may run, and what is kept when it fails. The
 * policy is that of the moment when it is made: the caller's event may change.
 */
export class Attempt {
  readonly #policy: FailurePolicy | undefined;
  readonly #keep: KeepFailure;
  #seen: SeenFailures | undefined;
  /** Why the work may not run. */
  #refusal: InboxError | undefined;
  /** What the work threw, when it is kept in the claim's transaction. */
  #inTurn: { readonly error: unknown; readonly kept: KeptFailure | undefined } | undefined;
  #isKept = false;

  constructor({ failures }: InboxEvent, keep: KeepFailure) {
    this.#policy = failures;
    this.#keep = keep;
  }

  /**
   * To be called with the claim granted, before the work.
   *
   * @throws {InboxError} `CHANGE_PARKED`, `CHANGE_BLOCKED`: the work may not run
   */
  begin(seen: SeenFailures): void {
    this.#seen = seen;
    const { runParked = false, blockParked = false } = this.#policy ?? {};
    if (seen.own === 'parked' && !runParked) this.#refusal = changeParked();
    else if (seen.behindParked && blockParked) this.#refusal = changeBlocked();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /**
   * Runs the delivery, and keeps its failure. What fails in keeping it never hides the failure itself.
   *
   * @throws what `deliver` throws
   */
  async run<Result>(deliver: () => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await deliver();
    } catch (thrown) {
      // What is kept in a transaction that could not be committed is not kept.
      const error = this.#inTurn === undefined ? thrown : this.#inTurn.error;
      await this.failed(error);
      throw error;
    }
    if (this.#inTurn === undefined) return result;
    const { error, kept } = this.#inTurn;
    try {
      this.#reportParked(kept);
    } catch {}
    throw error;
  }

  /**
   * Runs the work. Where later changes of the payment are to wait behind this one once it is parked, its failure
   * is kept in the transaction of the claim: kept after it, one that was waiting for the claim would run.
   *
   * @param transaction undefined where an ORM has it, whose other queries of the work may still be coming: what
   * is committed could hold one. The failure is kept on another connection then, before the roll-back
   * @returns whether the work is done; if not, its failure is kept when the transaction is committed, and
   * {@link run} rejects with it
   */
  async work(
    run: () => Promise<void>,
    transaction: ClaimTransaction | undefined,
  ): Promise<boolean> {
    const { parkAfter, blockParked = false } = this.#policy ?? {};
    if (!blockParked || parkAfter === undefined) {
      await run();
      return true;
    }
    await transaction?.mark();
    try {
      await run();
      return true;
    } catch (error) {
      if (transaction === undefined) await this.failed(error);
      if (transaction === undefined || !isFailure(error)) throw error;
      try {
        const kept = await transaction.keep(
          this.#describe(error, { ran: true, parkFrom: parkAfter }),
        );
        this.#inTurn = { error, kept };
        return false;
      } catch {
        // The connection may be lost: it is kept in another transaction then.
        throw error;
      }
    }
  }

  /** Keeps what the delivery failed with, once, unless it failed before its claim was granted. */
  async failed(error: unknown): Promise<void> {
    const seen = this.#seen;
    if (seen === undefined || this.#isKept) return;
    if (this.#refusal === undefined) {
      if (isFailure(error)) await this.#keepOrIgnore(error);
    } else if (error === this.#refusal && seen.own !== 'parked') {
      // It is acknowledged for being kept, so what fails here is the answer.
      await this.#keep(this.#describe(error, { ran: false, parkFrom: 0 }));
    }
  }

  async #keepOrIgnore(error: unknown): Promise<void> {
    try {
      const parkFrom = this.#policy?.parkAfter;
      const kept = await this.#keep(this.#describe(error, { ran: true, parkFrom }));
      this.#isKept = true;
      this.#reportParked(kept);
    } catch {
      // Most failures of the store are what the work failed with already.
    }
  }

  #reportParked(kept: KeptFailure | undefined): void {
    if (kept?.parked && this.#seen?.own !== 'parked') this.#policy?.onParked?.(kept.attempts);
  }

  #describe(error: unknown, how: Pick<NewFailure, 'ran' | 'parkFrom'>): NewFailure {
    const policy = this.#policy;
    return {
      ...how,
      error: policy?.describeError?.(error) ?? describeFailure(error),
      getRawBody: () => policy?.getRawBody?.(),
    };
  }
}

function changeParked(): InboxError {
  return new InboxError(
    'CHANGE_PARKED',
    'The change was not run: it is parked after repeated failures; replay it when its cause is fixed, or discard it',
  );
}

function changeBlocked(): InboxError {
  return new InboxError(
    'CHANGE_BLOCKED',
    'The change was not run but parked: an earlier change of its payment is parked, and blockParked keeps their order; replay or discard the earlier one first',
  );
}
