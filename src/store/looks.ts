import { StoreError } from '../errors.js';
import { invalidOption, optional, text } from '../protocol/options.js';
import { fieldOf, isObject } from '../protocol/own-fields.js';
import { isPaid } from '../protocol/payment.js';
import { startStopwatch, within } from '../protocol/waiting.js';
import type { Tables } from './backend.js';
import type { Cursor, Decision, Listed, Page } from './payment-row.js';
import { readBody, toFinding } from './records.js';

const PAGE_SIZE = 100;
// Longer than a call of the client takes by default.
const LOOK_UP_TIMEOUT_MS = 60_000;

export type LookUp = (merchantPaymentReference: string) => Promise<unknown>;

/** What `lookUp` has found. */
type Found =
  | { readonly referenceNumber: string; readonly status: string | undefined }
  | 'not-created'
  | undefined;

interface Looking {
  readonly lookUp: LookUp;
  /** For how long after a claim the service may act on the request. */
  readonly lifetimeMs: number;
  /** Called for a payment that it has found paid, and of which no callback has come. */
  readonly onMissed: (found: MissedPayment) => void;
}

/** A payment that `lookUp` has found paid, and of which no callback has come. */
export interface MissedPayment {
  readonly merchantPaymentReference: string;
  /** As `lookUp` has found it. */
  readonly referenceNumber: string | undefined;
}

/** The looks of one pass at the service. One that fails must keep neither the others nor the rest from being done. */
export class Looks {
  /** The first one. */
  failure: { readonly error: unknown } | undefined;
  /** How many unresolved payments were found. */
  found = 0;
  readonly #backend: Tables;
  readonly #options: Looking;
  #failedMs = 0;

  constructor(backend: Tables, options: Looking) {
    this.#backend = backend;
    this.#options = options;
  }

  /** Looks at these unresolved payments, and decides what it can. */
  async atUnresolved(isLookedUp: (listed: Listed) => boolean): Promise<void> {
    const { lifetimeMs } = this.#options;
    await eachPage(
      (page) => this.#backend.listDue('unresolved', lifetimeMs, page),
      async (listed) => {
        for (const one of listed.filter(isLookedUp)) await this.#atUnresolved(one);
        return !this.#areOver;
      },
    );
  }

  /** Looks at created payments of which no callback has told. */
  async atWaiting(): Promise<void> {
    const { lifetimeMs } = this.#options;
    const page = { after: undefined, limit: PAGE_SIZE };
    for (const one of await this.#backend.listDue('waiting', lifetimeMs, page)) {
      await this.#atWaiting(one);
    }
  }

  async #atUnresolved(listed: Listed): Promise<void> {
    const look = await this.#look(listed);
    if (look === undefined) return;
    const decision = this.#toDecision(look.found, listed);
    const decided = decision && (await this.#backend.decide(listed.key, decision));
    const isDecided = decided?.outcome === 'decided';
    if (isDecided && decision?.state === 'recorded') return;
    if (isDecided) this.found += 1;
    await this.#keep(listed, look.found);
  }

  #toDecision(found: Found, listed: Listed): Decision | undefined {
    const { stored, listedAtMs } = listed;
    const { lifetimeMs } = this.#options;
    const { attempts } = stored;
    if (found === undefined) return undefined;
    if (found === 'not-created') {
      // It may be sent again, if it was listed late enough: before it was looked up.
      return this.#isOver(listed)
        ? { state: 'recorded', attempts, listedAtMs, lifetimeMs }
        : undefined;
    }
    const { referenceNumber } = found;
    const finding = { merchantPaymentReference: referenceOf(stored), referenceNumber };
    return { state: 'created', finding: toFinding(finding, this.#backend.forms) };
  }

  async #atWaiting(listed: Listed): Promise<void> {
    const look = await this.#look(listed);
    if (look !== undefined) await this.#keep(listed, look.found);
  }

  /** Keeps what was found of a payment without a callback, and when to look next: before, each pass looks. */
  async #keep(listed: Listed, found: Found): Promise<void> {
    if (!this.#isOver(listed)) return;
    const { key, stored } = listed;
    const { referenceNumber, status } = typeof found === 'object' ? found : NOTHING;
    const isStored = await this.#backend.look(key, { attempts: stored.attempts, status });
    if (!isStored || status === undefined || !isPaid({ status })) return;
    const { onMissed } = this.#options;
    onMissed({ merchantPaymentReference: referenceOf(stored), referenceNumber });
  }

  /** Whether the service could no longer act on the request when it was listed. Before, a pass writes nothing. */
  #isOver({ stored, listedAtMs }: Listed): boolean {
    return listedAtMs >= (stored.sentAtMs ?? 0) + this.#options.lifetimeMs;
  }

  /** Whether those that failed have taken so long that the others wait for the next pass. */
  get #areOver(): boolean {
    return this.#failedMs >= LOOK_UP_TIMEOUT_MS;
  }

  /** Undefined if the look failed. */
  async #look({ stored }: Listed): Promise<{ readonly found: Found } | undefined> {
    if (this.#areOver) return undefined;
    const elapsed = startStopwatch();
    try {
      const asked = this.#options.lookUp(referenceOf(stored));
      const answer = await within(LOOK_UP_TIMEOUT_MS, asked, () => {
        throw lookUpTooLate();
      });
      return { found: readFound(answer) };
    } catch (error) {
      this.failure ??= { error };
      this.#failedMs += elapsed();
      return undefined;
    }
  }
}

const NOTHING = { referenceNumber: undefined, status: undefined };

function referenceOf({ body }: Listed['stored']): string {
  return readBody(body).input.merchantPaymentReference;
}

const status = optional(text);

/** @throws {InvalidOptionError} when it is nothing that `lookUp` may return */
function readFound(answer: unknown): Found {
  if (answer === undefined || answer === 'not-created') return answer;
  if (!isObject(answer)) {
    const expected = "resolve with an object with referenceNumber, 'not-created' or nothing";
    throw invalidOption('lookUp', expected, answer);
  }
  return {
    referenceNumber: text(fieldOf(answer, 'referenceNumber'), "lookUp's referenceNumber"),
    status: status(fieldOf(answer, 'status'), "lookUp's status"),
  };
}

function lookUpTooLate(): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `lookUp did not settle within ${LOOK_UP_TIMEOUT_MS} ms, so nothing is known of its payment; give its request a deadline`,
  );
}

/** Reads a list page by page, while `handle` resolves with true. */
export async function eachPage(
  read: (page: Omit<Page, 'olderThanMs'>) => Promise<readonly Listed[]>,
  handle: (listed: readonly Listed[]) => Promise<boolean>,
): Promise<void> {
  let after: Cursor | undefined;
  for (;;) {
    const page = await read({ after, limit: PAGE_SIZE });
    const mayContinue = await handle(page);
    if (!mayContinue || page.length < PAGE_SIZE) return;
    after = page.at(-1)?.place;
  }
}
