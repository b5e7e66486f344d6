import { useEffect, useState } from 'preact/hooks';
import type {
  ControlAttempt,
  ControlEvent,
  ControlFault,
  ControlPayment,
  ControlPaymentDetail,
  ControlRequest,
  ControlState,
} from '../../control/control-types.js';
import { ControlFailure, control, followEvents, MockUnreachable } from './control-client.js';
import { describeOutcome } from './delivery-text.js';
import type { Route } from './route.js';
import { serviceClock } from './time.js';

export type Connection = 'connecting' | 'live' | 'reconnecting';

/** What is shown, as it was last fetched. */
export interface Snapshot {
  readonly connection: Connection;
  readonly service?: ControlState | undefined;
  readonly payments?: PaymentRows | undefined;
  /** The payment that is open; `missing` when the mock does not have it. */
  readonly detail?: ControlPaymentDetail | 'missing' | undefined;
  readonly requests?: RequestRows | undefined;
  readonly faults?: readonly ControlFault[] | undefined;
  /** The mock's message when it refused a call. */
  readonly failure?: string | undefined;
  readonly search: string;
}

export interface PaymentRows {
  readonly rows: readonly ControlPayment[];
  readonly total: number;
  readonly next?: string | undefined;
  /** The search they are the result of. */
  readonly search: string;
}

export interface RequestRows {
  readonly rows: readonly ControlRequest[];
  readonly total: number;
}

/** What is fetched in one call. */
type Part = 'service' | 'payments' | 'detail' | 'requests' | 'faults';

const PAGE_ROWS = 50;
/** More rows than this are not kept; older payments are found by a search. */
export const MAX_PAYMENT_ROWS = 500;
export const MAX_REQUEST_ROWS = 200;
export const MAX_DELIVERIES = 200;
/** Pause between two fetches of the same part, so that a burst of events does not load the mock. */
const REFETCH_PAUSE_MS = 100;
/** After this a second reading of the service's time shows whether its clock runs. */
const SECOND_LOOK_MS = 600;

const STALE_AFTER: Readonly<Record<ControlEvent['type'], readonly Part[]>> = {
  payment: ['service', 'payments', 'detail'],
  request: ['service', 'requests'],
  attempt: ['service', 'detail'],
  delivery: ['detail'],
  faults: ['service', 'faults'],
  state: ['service', 'detail'],
  reset: ['service', 'payments', 'detail', 'requests', 'faults'],
};

/**
 * What the page knows of the mock. Events say what is stale; each animation frame fetches what is
 * stale and shown, each part once at a time. So a burst of a thousand events costs a handful of
 * calls, nothing grows, and no answer is older than the event it is fetched for.
 */
class LiveData {
  #snapshot: Snapshot = { connection: 'connecting', search: '' };
  #route: Route = { view: 'payments' };
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();
  readonly #stale = new Set<Part>();
  readonly #busy = new Set<Part>();
  #frame: number | undefined;

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  start(): void {
    followEvents(Object.keys(STALE_AFTER), {
      onOpen: () => {
        this.#update({ connection: 'live' });
        this.#markStale(...STALE_AFTER.reset);
        window.setTimeout(() => this.#markStale('service'), SECOND_LOOK_MS);
      },
      onLost: () => this.#update({ connection: 'reconnecting' }),
      onEvent: (event) => {
        if (event.type === 'attempt') announce(event.attempt);
        this.#markStale(...STALE_AFTER[event.type]);
      },
    });
  }

  subscribe(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Fetches what this view shows. */
  show(route: Route): void {
    const before = toReference(this.#route);
    this.#route = route;
    if (before !== toReference(route)) this.#update({ detail: undefined });
    this.#markStale('service', 'payments', 'detail', 'requests', 'faults');
  }

  search(search: string): void {
    this.#update({ search });
    this.#markStale('payments');
  }

  /** Fetches what is shown: after an action, which is answered before its events are sent. */
  refresh(): void {
    this.#markStale(...STALE_AFTER.reset);
  }

  /** @throws {ControlFailure} or {MockUnreachable} */
  async loadMorePayments(): Promise<void> {
    const { payments, search } = this.#snapshot;
    if (payments?.next === undefined) return;
    const limit = Math.min(PAGE_ROWS, MAX_PAYMENT_ROWS - payments.rows.length);
    const page = await control.listPayments({ limit, search, before: payments.next });
    const known = this.#snapshot.payments;
    if (known === undefined || known.search !== search) return;
    const numbers = new Set(known.rows.map(({ referenceNumber }) => referenceNumber));
    const older = page.payments.filter(({ referenceNumber }) => !numbers.has(referenceNumber));
    const rows = [...known.rows, ...older];
    this.#update({ payments: { rows, total: page.total, next: page.next, search } });
  }

  #update(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener(this.#snapshot);
  }

  #markStale(...parts: readonly Part[]): void {
    for (const part of parts) this.#stale.add(part);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      // A hidden page follows no events either; all is fetched when it is shown and they are back.
      if (document.hidden) return;
      for (const part of [...this.#stale]) this.#fetch(part);
    });
  }

  #fetch(part: Part): void {
    if (!this.#isShown(part)) {
      // A view fetches its parts when it is opened.
      this.#stale.delete(part);
      return;
    }
    if (this.#busy.has(part)) return;
    this.#stale.delete(part);
    this.#busy.add(part);
    this.#load(part)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        window.setTimeout(() => {
          this.#busy.delete(part);
          if (this.#stale.has(part)) this.#markStale(part);
        }, REFETCH_PAUSE_MS);
      });
  }

  #isShown(part: Part): boolean {
    if (part === 'payments') return this.#route.view === 'payments';
    if (part === 'requests') return this.#route.view === 'requests';
    if (part === 'detail') return toReference(this.#route) !== undefined;
    return true;
  }

  async #load(part: Part): Promise<void> {
    if (part === 'service') {
      const service = await control.getState();
      serviceClock.read(service.now);
      this.#update({ service, failure: undefined });
    }
    if (part === 'payments') await this.#loadPayments();
    if (part === 'detail') await this.#loadDetail();
    if (part === 'requests') {
      const { requests, total } = await control.listRequests(MAX_REQUEST_ROWS);
      this.#update({ requests: { rows: requests, total }, failure: undefined });
    }
    if (part === 'faults') this.#update({ ...(await control.listFaults()), failure: undefined });
  }

  async #loadPayments(): Promise<void> {
    const { search, payments } = this.#snapshot;
    const loaded = payments?.search === search ? payments.rows.length : 0;
    const limit = Math.max(PAGE_ROWS, loaded);
    const page = await control.listPayments({ limit, search });
    if (search !== this.#snapshot.search) return;
    const { total, next } = page;
    this.#update({ payments: { rows: page.payments, total, next, search }, failure: undefined });
  }

  async #loadDetail(): Promise<void> {
    const referenceNumber = toReference(this.#route);
    if (referenceNumber === undefined) return;
    const detail = await fetchDetail(referenceNumber);
    if (referenceNumber === toReference(this.#route)) this.#update({ detail, failure: undefined });
  }

  #fail(error: unknown): void {
    // The stream shows that the mock is gone, and everything is fetched when it is back.
    if (error instanceof MockUnreachable) return;
    this.#update({ failure: error instanceof Error ? error.message : String(error) });
  }
}

async function fetchDetail(referenceNumber: string): Promise<ControlPaymentDetail | 'missing'> {
  try {
    const { payment, deliveries } = await control.getPayment(referenceNumber);
    return { payment, deliveries: deliveries.slice(-MAX_DELIVERIES) };
  } catch (error) {
    if (error instanceof ControlFailure && error.status === 404) return 'missing';
    throw error;
  }
}

function toReference(route: Route): string | undefined {
  return route.view === 'payments' ? route.referenceNumber : undefined;
}

export const liveData = new LiveData();

export function useLiveData(): Snapshot {
  const [snapshot, setSnapshot] = useState(liveData.snapshot);
  useEffect(() => liveData.subscribe(setSnapshot), []);
  return snapshot;
}

/** Time for a screen reader to say one sentence before the next; what happens meanwhile is summed up. */
const PAUSE_MS = 1_000;

const announcementListeners = new Set<(text: string) => void>();
// One sentence needs the last attempt only: a burst must not pile up.
let lastAttempt: ControlAttempt | undefined;
let attemptCount = 0;

/** Says in the page's live region that an attempt to deliver a callback has ended. */
function announce(attempt: ControlAttempt): void {
  lastAttempt = attempt;
  attemptCount += 1;
  if (attemptCount === 1) window.setTimeout(speak, PAUSE_MS);
}

function speak(): void {
  if (lastAttempt === undefined) return;
  const { status, merchantPaymentReference } = lastAttempt;
  const text = `Callback ${status} of ${merchantPaymentReference}: ${describeOutcome(lastAttempt)}`;
  const summary =
    attemptCount > 1 ? `${attemptCount} callback attempts. The last one: ${text}` : text;
  lastAttempt = undefined;
  attemptCount = 0;
  for (const listener of announcementListeners) listener(summary);
}

export function useAnnouncement(): string {
  const [text, setText] = useState('');
  useEffect(() => {
    announcementListeners.add(setText);
    return () => void announcementListeners.delete(setText);
  }, []);
  return text;
}
