import { type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import { invalidOption, optional, text } from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import { isPaid } from '../protocol/payment.js';
import { startStopwatch, within } from '../protocol/waiting.js';
import type { Tables } from './backend.js';
import { late } from './errors.js';
import { PAGE_SIZE, pagesOf } from './list-attention.js';
import { referenceOf } from './order-steps.js';
import type { Decision, Listed } from './payment-row.js';
import { toServiceRecord } from './records.js';

// Longer than a call of the client takes by default.
const LOOK_UP_TIMEOUT_MS = 60_000;

export type LookUp = (merchantPaymentReference: string) => Promise<unknown>;

/** What `lookUp` has found. */
interface Found {
  readonly is: 'found' | 'not-created' | 'nothing';
  readonly referenceNumber?: string;
  readonly status?: string | undefined;
}

export interface LookOptions {
  /** For how long after a claim the service may act on the request. */
  readonly lifetimeMs: number;
  readonly logger: Logger | undefined;
}

/** The looks of one pass at the service. One that fails must keep neither the others nor the rest from being done. */
export class Looks {
  /** The first one. */
  failure: { readonly error: unknown } | undefined;
  /** How many unresolved payments were found. */
  found = 0;
  readonly #backend: Tables;
  readonly #lookUp: LookUp;
  readonly #options: LookOptions;
  #failedMs = 0;

  constructor(backend: Tables, lookUp: LookUp, options: LookOptions) {
    this.#backend = backend;
    this.#lookUp = lookUp;
    this.#options = options;
  }

  /** Looks at these unresolved payments, and decides what it can. */
  async atUnresolved(isLookedUp: (listed: Listed) => boolean): Promise<void> {
    const { lifetimeMs } = this.#options;
    const pages = pagesOf((page) => this.#backend.listDue('unresolved', lifetimeMs, page));
    for await (const page of pages) {
      for (const listed of page.filter(isLookedUp)) await this.#atUnresolved(listed);
      if (this.#areOver) return;
    }
  }

  /** Looks at created payments of which no callback has told. */
  async atWaiting(): Promise<void> {
    const { lifetimeMs } = this.#options;
    const page = { olderThanMs: 0, after: undefined, limit: PAGE_SIZE };
    for (const listed of await this.#backend.listDue('waiting', lifetimeMs, page)) {
      const found = await this.#look(listed);
      if (found !== undefined) await this.#keep(listed, found);
    }
  }

  async #atUnresolved(listed: Listed): Promise<void> {
    const found = await this.#look(listed);
    if (found === undefined) return;
    const decision = this.#toDecision(found, listed);
    const decided = decision && (await this.#backend.decide(listed.key, decision));
    const isDecided = decided?.outcome === 'decided';
    if (isDecided && decision?.state === 'recorded') return;
    if (isDecided) this.found += 1;
    await this.#keep(listed, found);
  }

  #toDecision({ is, referenceNumber }: Found, listed: Listed): Decision | undefined {
    const { stored, listedAtMs } = listed;
    if (referenceNumber !== undefined) {
      const payment = { merchantPaymentReference: referenceOf(stored), referenceNumber };
      return { state: 'created', serviceRecord: toServiceRecord(payment, this.#backend.forms) };
    }
    // It may be sent again, if it was listed late enough: before it was looked up.
    if (is === 'nothing' || !this.#isOver(listed)) return undefined;
    const { lifetimeMs } = this.#options;
    return { state: 'recorded', attempts: stored.attempts, listedAtMs, lifetimeMs };
  }

  /** Keeps what was found of a payment without a callback, and when to look next: before, each pass looks. */
  async #keep(listed: Listed, { status, referenceNumber }: Found): Promise<void> {
    if (!this.#isOver(listed)) return;
    const { key, stored } = listed;
    const { logger } = this.#options;
    const isStored = await this.#backend.look(key, { attempts: stored.attempts, status });
    if (logger === undefined || !isStored || status === undefined || !isPaid({ status })) return;
    const references = { merchantPaymentReference: referenceOf(stored), referenceNumber };
    const fields = { operation: 'recover', ...referenceFields(references) };
    const message = 'a payment is paid at the service, and no callback about it has come';
    writeLine(logger, 'error', { fields, message });
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
  async #look({ stored }: Listed): Promise<Found | undefined> {
    if (this.#areOver) return undefined;
    const elapsed = startStopwatch();
    try {
      const asked = this.#lookUp(referenceOf(stored));
      return readFound(await within(LOOK_UP_TIMEOUT_MS, asked, refuseLate));
    } catch (error) {
      this.failure ??= { error };
      this.#failedMs += elapsed();
      return undefined;
    }
  }
}

const status = optional(text);

/** @throws {InvalidOptionError} when it is nothing that `lookUp` may return */
function readFound(answer: unknown): Found {
  if (answer === undefined) return { is: 'nothing' };
  if (answer === 'not-created') return { is: answer };
  if (!isObject(answer)) {
    const expected = "resolve with an object with referenceNumber, 'not-created' or nothing";
    throw invalidOption('lookUp', expected, answer);
  }
  const found = answer as Readonly<Record<string, unknown>>;
  return {
    is: 'found',
    referenceNumber: text(found['referenceNumber'], "lookUp's referenceNumber"),
    status: status(found['status'], "lookUp's status"),
  };
}

function refuseLate(): never {
  throw late(
    `lookUp did not settle within ${LOOK_UP_TIMEOUT_MS} ms, so nothing is known of its payment; give its request a deadline`,
  );
}
