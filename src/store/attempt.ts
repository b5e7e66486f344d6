import { StoreError } from '../errors.js';
import {
  describeFailure,
  type FailurePolicy,
  type FailureText,
  isFailure,
} from './failed-changes.js';
import type { InboxEvent } from './inbox.js';

/** The stored failures that matter to a claim: those of the change itself and of earlier changes of its payment. */
export interface SeenFailures {
  /** The state of the change itself. */
  readonly own: 'failed' | 'parked' | undefined;
  /** Whether an earlier change of the payment is parked. */
  readonly behindParked: boolean;
}

/** The result for most claims. */
export const NOTHING_SEEN: SeenFailures = Object.freeze({ own: undefined, behindParked: false });

/** A stored failure of a change of the payment. Times are in epoch microseconds. */
interface SeenChange {
  readonly key: string;
  readonly occurredAtUs: number | bigint;
  readonly parked: boolean;
}

/** Selects the failures that matter to a change, in stores that do so in JavaScript. */
export function seeFailures(
  change: Omit<SeenChange, 'parked'>,
  failures: readonly SeenChange[],
): SeenFailures {
  const own = failures.find(({ key }) => key === change.key);
  const isEarlier = (other: SeenChange): boolean =>
    other.occurredAtUs < change.occurredAtUs ||
    (other.occurredAtUs === change.occurredAtUs && other.key < change.key);
  return {
    own: own && (own.parked ? 'parked' : 'failed'),
    behindParked: failures.some((other) => other.parked && isEarlier(other)),
  };
}

/** A failure for a store to keep. */
export interface NewFailure {
  /** False for a change that is parked without having run. */
  readonly ran: boolean;
  /** The number of attempts from which the change is parked; 0 parks it at once, undefined never. */
  readonly parkFrom: number | undefined;
  readonly error: FailureText;
  /** Called only by a store that keeps bodies. Undefined when the body is not known. */
  getRawBody(): Uint8Array | undefined;
}

/** A failure as stored. */
export interface KeptFailure {
  readonly attempts: number;
  readonly parked: boolean;
}

/**
 * Stores a failure outside the transaction that failed. Resolves to undefined, and stores nothing, if the
 * change was processed in the meantime.
 */
export type KeepFailure = (failure: NewFailure) => Promise<KeptFailure | undefined>;

/** The transaction that holds a claim. Until it ends, no other change of the payment can be claimed. */
export interface ClaimTransaction {
  /** Sets a savepoint. */
  mark(): Promise<unknown>;
  /** Rolls back to the savepoint, and stores the failure. */
  readonly keep: KeepFailure;
}

/**
 * One delivery at an inbox that keeps failures: decides whether the work may run, and stores its failure. The
 * policy is read in the constructor, because the caller may change the event later.
 */
export class Attempt {
  readonly #policy: FailurePolicy | undefined;
  readonly #keep: KeepFailure;
  #seen: SeenFailures | undefined;
  /** Why the work may not run. */
  #refusal: StoreError | undefined;
  /** The work's error, if its failure was stored in the claim's transaction. */
  #inTurn: { readonly error: unknown; readonly kept: KeptFailure | undefined } | undefined;
  #isKept = false;
  /** The store's error, if it could not store the failure so far. */
  #storeError: { readonly error: unknown } | undefined;

  constructor({ failures }: InboxEvent, keep: KeepFailure) {
    this.#policy = failures;
    this.#keep = keep;
  }

  /**
   * Call it after the claim is granted and before the work runs.
   *
   * @throws {StoreError} `CHANGE_PARKED` or `CHANGE_BLOCKED` when the work may not run
   */
  begin(seen: SeenFailures): void {
    this.#seen = seen;
    const { runParked = false, blockParked = false } = this.#policy ?? {};
    if (seen.own === 'parked' && !runParked) this.#refusal = changeParked();
    else if (seen.behindParked && blockParked) this.#refusal = changeBlocked();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /**
   * Runs the delivery, and stores its failure. If storing fails, the original error is thrown all the same.
   *
   * @throws what `deliver` throws
   */
  async run<Result>(deliver: () => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await deliver();
    } catch (thrown) {
      // The transaction did not commit, so the failure stored in it is gone.
      const error = this.#inTurn === undefined ? thrown : this.#inTurn.error;
      await this.failed(error);
      this.#reportNotKept();
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
   * Runs the work. With `blockParked`, its failure is stored in the claim's own transaction: if it were stored
   * afterwards, a later change that waits for the claim would run before this one is parked.
   *
   * @param transaction undefined if an ORM owns it. Queries of the work may still arrive there, and a commit would
   * include them, so the failure is stored on another connection, before the rollback
   * @returns whether the work completed. If not, committing the transaction stores its failure, and
   * {@link run} rejects with the work's error
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
        // The connection may be lost: run() stores the failure in another transaction.
        throw error;
      }
    }
  }

  /** Stores the delivery's failure, once, unless it failed before its claim was granted. */
  async failed(error: unknown): Promise<void> {
    const seen = this.#seen;
    if (seen === undefined || this.#isKept) return;
    if (this.#refusal === undefined) {
      if (isFailure(error)) await this.#keepOrIgnore(error);
    } else if (error === this.#refusal && seen.own !== 'parked') {
      // A blocked change is acknowledged because it is stored, so a failure to store it must reach the caller.
      await this.#keep(this.#describe(error, { ran: false, parkFrom: 0 }));
    }
  }

  async #keepOrIgnore(error: unknown): Promise<void> {
    try {
      const parkFrom = this.#policy?.parkAfter;
      const kept = await this.#keep(this.#describe(error, { ran: true, parkFrom }));
      this.#isKept = true;
      this.#reportParked(kept);
    } catch (storeError) {
      // The work's own error is thrown anyway, and run() tries once more.
      this.#storeError = { error: storeError };
    }
  }

  #reportParked(kept: KeptFailure | undefined): void {
    if (kept?.parked && this.#seen?.own !== 'parked') this.#policy?.onParked?.(kept.attempts);
  }

  #reportNotKept(): void {
    if (this.#isKept || this.#storeError === undefined) return;
    try {
      this.#policy?.onNotKept?.(this.#storeError.error);
    } catch {}
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

function changeParked(): StoreError {
  return new StoreError(
    'CHANGE_PARKED',
    'The change was not run: it is parked after repeated failures; replay it when its cause is fixed, or discard it',
  );
}

function changeBlocked(): StoreError {
  return new StoreError(
    'CHANGE_BLOCKED',
    'The change was parked without being run: an earlier change of its payment is parked, and blockParked keeps their order; replay or discard the earlier one first',
  );
}
