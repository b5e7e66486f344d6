import { useEffect, useState } from 'preact/hooks';
import type { CallbackGroup } from '../../control/callback-groups.js';
import type {
  ControlCallback,
  ControlEvent,
  ControlFault,
  ControlPayment,
  ControlPaymentDetail,
  ControlRequestPage,
  ControlState,
} from '../../control/control-types.js';
import { announce } from './announcement.js';
import { ControlFailure, control, followEvents, MockUnreachable } from './control-client.js';
import {
  entryOfAttempt,
  entryOfPayment,
  entryOfRequest,
  type FeedEntry,
  mergeFeed,
  toFeedEntry,
} from './feed.js';
import type { Route } from './route.js';
import { serviceClock } from './time.js';

export type Connection = 'connecting' | 'live' | 'reconnecting';

/** The data of the page, as last fetched. */
export interface Snapshot {
  readonly connection: Connection;
  readonly service?: ControlState | undefined;
  readonly payments?: PaymentRows | undefined;
  /** The open payment; `missing` when the mock does not have it. */
  readonly detail?: ControlPaymentDetail | 'missing' | undefined;
  /** For the Callbacks view. */
  readonly callbacks?: CallbackRows | undefined;
  /** Failed callbacks, for the Payments view. */
  readonly failures?: readonly ControlCallback[] | undefined;
  readonly requests?: ControlRequestPage | undefined;
  readonly faults?: readonly ControlFault[] | undefined;
  /** Newest first. */
  readonly feed: readonly FeedEntry[];
  /** The mock's message when it refused a call. */
  readonly failure?: string | undefined;
  readonly search: string;
  readonly callbackSearch: string;
}

/** The rows of a list. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  /** How many match in all. */
  readonly total: number;
  /** How many new ones wait until the list is released. */
  readonly unseen: number;
}

export interface PaymentRows extends Rows<ControlPayment> {
  readonly next?: string | undefined;
  /** The search that they match. */
  readonly search: string;
}

export interface CallbackRows extends Rows<ControlCallback> {
  /** The group and the search that they match. */
  readonly query: string;
}

const PAGE_ROWS = 50;
/** The most that the mock lists in one answer. */
const MAX_LIMIT = 1_000;
/** How many rows are kept; older payments are found by searching. */
export const MAX_PAYMENT_ROWS = 500;
const MAX_CALLBACK_ROWS = 100;
const MAX_FAILURES = 100;
const MAX_REQUEST_ROWS = 200;
export const MAX_DELIVERIES = 200;
/** How many entries of each kind the feed starts with. */
const FEED_START = 30;
/** Pause between two fetches of the same part, so that a burst of events does not load the mock. */
const REFETCH_PAUSE_MS = 200;
/** Pause between two updates of the feed. */
const FEED_PAUSE_MS = 250;
/** Delay of the second reading of the service's time, which shows whether its clock runs. */
const SECOND_LOOK_MS = 600;

const ALL_PARTS = [
  'service',
  'payments',
  'detail',
  'callbacks',
  'failures',
  'requests',
  'faults',
] as const;
/** Data fetched in one call. */
type Part = (typeof ALL_PARTS)[number];

const STALE_AFTER: Readonly<Record<ControlEvent['type'], readonly Part[]>> = {
  payment: ['service', 'payments', 'detail'],
  request: ['service', 'requests'],
  attempt: ['service', 'detail', 'callbacks', 'failures'],
  delivery: ['service', 'detail', 'callbacks', 'failures'],
  faults: ['service', 'faults'],
  limit: ['service'],
  state: ['service', 'detail'],
  reset: ALL_PARTS,
};

/**
 * The page's copy of the mock's data. Events mark parts of it as stale; an animation frame fetches those
 * that are stale and shown, never one part twice at a time. So a burst of a thousand events costs a handful
 * of calls, nothing piles up, and no answer is older than the event that it was fetched for.
 */
class LiveData {
  #snapshot: Snapshot = { connection: 'connecting', feed: [], search: '', callbackSearch: '' };
  #route: Route = { view: 'payments' };
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();
  readonly #stale = new Set<Part>();
  readonly #busy = new Set<Part>();
  #frame: number | undefined;
  #isHeld = false;
  #hasMissedEvents = false;
  /** Whether the service's time is to be read once more after the next answer. */
  #looksTwice = false;
  /** Payments that changed while the list is held. They may not be among the newest, which are fetched. */
  readonly #changedPayments = new Map<string, ControlPayment>();
  /** The total when the list was last not held: payments beyond it are new. */
  #paymentsSeen = 0;
  #newEntries: FeedEntry[] = [];
  #feedTimer: number | undefined;

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  start(): void {
    followEvents(Object.keys(STALE_AFTER), {
      onOpen: () => {
        this.#hasMissedEvents = true;
        this.#update({ connection: 'live' });
        this.refresh();
        void this.#startFeed();
        this.#looksTwice = true;
      },
      onLost: () => this.#update({ connection: 'reconnecting' }),
      onEvent: (event) => this.#take(event),
    });
  }

  subscribe(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Switches to a view and fetches its data. */
  show(route: Route): void {
    const before = this.#route;
    this.#route = route;
    if (toReference(before) !== toReference(route)) this.#update({ detail: undefined });
    if (before.view !== route.view) this.#isHeld = false;
    this.refresh();
  }

  search(search: string): void {
    this.#update({ search });
    this.#markStale('payments');
  }

  searchCallbacks(callbackSearch: string): void {
    this.#update({ callbackSearch });
    this.#markStale('callbacks');
  }

  /** Holds the list while somebody reads it: its rows stay, and new ones are counted. */
  hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return;
    this.#isHeld = isHeld;
    if (!isHeld) this.refresh();
  }

  /** Shows the rows held back so far. */
  async showNewest(): Promise<void> {
    const isHeld = this.#isHeld;
    this.#isHeld = false;
    try {
      await (this.#route.view === 'callbacks' ? this.#loadCallbacks() : this.#loadPayments());
    } finally {
      this.#isHeld = isHeld;
    }
  }

  /** Fetches everything shown. For after an action, which is answered before its events are sent. */
  refresh(): void {
    this.#markStale(...ALL_PARTS);
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
    this.#update({ payments: { ...known, rows, total: page.total, next: page.next } });
  }

  #update(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener(this.#snapshot);
  }

  /** Shows what the mock answered. */
  #receive(change: Partial<Snapshot>): void {
    this.#update({ ...change, failure: undefined });
  }

  #take(event: ControlEvent): void {
    if (event.type === 'attempt') announce(event.attempt);
    if (event.type === 'payment' && this.#isHeld) {
      this.#changedPayments.set(event.payment.referenceNumber, event.payment);
    }
    if (event.type === 'reset') {
      this.#newEntries = [];
      this.#isHeld = false;
      this.#update({ feed: [] });
    }
    const entry = toFeedEntry(event);
    if (entry !== undefined) this.#addToFeed(entry);
    this.#markStale(...STALE_AFTER[event.type]);
  }

  #addToFeed(entry: FeedEntry): void {
    this.#newEntries.push(entry);
    this.#feedTimer ??= window.setTimeout(() => {
      this.#feedTimer = undefined;
      const added = this.#newEntries;
      this.#newEntries = [];
      this.#update({ feed: mergeFeed(this.#snapshot.feed, added) });
    }, FEED_PAUSE_MS);
  }

  /** The event stream replays nothing, so the feed starts with what the mock has kept. */
  async #startFeed(): Promise<void> {
    try {
      const [{ attempts }, { requests }, { payments }] = await Promise.all([
        control.listAttempts(FEED_START),
        control.listRequests(FEED_START),
        control.listPayments({ limit: FEED_START, search: '' }),
      ]);
      const entries = [
        ...attempts.map(entryOfAttempt),
        ...requests.flatMap((request) => entryOfRequest(request) ?? []),
        ...payments.flatMap(entryOfPayment),
      ];
      this.#update({ feed: mergeFeed([], entries) });
    } catch (error) {
      this.#fail(error);
    }
  }

  #markStale(...parts: readonly Part[]): void {
    for (const part of parts) this.#stale.add(part);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      // A hidden page follows no events either. When it is shown, it reconnects and fetches everything.
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
    if (part === 'detail') return toReference(this.#route) !== undefined;
    if (part === 'failures') return this.#route.view === 'payments';
    if (part === 'payments' || part === 'callbacks' || part === 'requests') {
      return this.#route.view === part;
    }
    return true;
  }

  async #load(part: Part): Promise<void> {
    if (part === 'service') {
      const service = await control.getState();
      serviceClock.read(service.now);
      this.#receive({ service });
      if (this.#looksTwice) window.setTimeout(() => this.#markStale('service'), SECOND_LOOK_MS);
      this.#looksTwice = false;
    }
    if (part === 'payments') await this.#loadPayments();
    if (part === 'detail') await this.#loadDetail();
    if (part === 'callbacks') await this.#loadCallbacks();
    if (part === 'failures') {
      const query = { limit: MAX_FAILURES, group: 'failed', search: '' } as const;
      const { callbacks } = await control.listCallbacks(query);
      this.#receive({ failures: callbacks });
    }
    if (part === 'requests') {
      this.#receive({ requests: await control.listRequests(MAX_REQUEST_ROWS) });
    }
    if (part === 'faults') this.#receive(await control.listFaults());
  }

  async #loadPayments(): Promise<void> {
    const { search, payments } = this.#snapshot;
    const known = payments?.search === search ? payments.rows.length : 0;
    const loaded = Math.max(PAGE_ROWS, known);
    const limit = this.#hasMissedEvents && this.#isHeld ? MAX_LIMIT : loaded;
    this.#hasMissedEvents = false;
    const page = await control.listPayments({ limit, search });
    if (search !== this.#snapshot.search) return;
    const shown = this.#snapshot.payments?.search === search ? this.#snapshot.payments : undefined;
    const changed = [...this.#changedPayments.values()];
    this.#changedPayments.clear();
    const { total, next } = page;
    if (!this.#isHeld || shown === undefined || shown.rows.length === 0) {
      this.#paymentsSeen = total;
      const rows = page.payments.slice(0, loaded);
      this.#receive({ payments: { rows, total, next, search, unseen: 0 } });
      return;
    }
    const { rows } = holdRows({
      shown: shown.rows,
      fetched: [...page.payments, ...changed],
      keyOf: ({ referenceNumber }) => referenceNumber,
    });
    const unseen = Math.max(0, total - this.#paymentsSeen);
    this.#receive({ payments: { ...shown, rows, total, unseen } });
  }

  async #loadCallbacks(): Promise<void> {
    const { group, search, query } = this.#callbackQuery();
    const page = await control.listCallbacks({ limit: MAX_CALLBACK_ROWS, group, search });
    if (query !== this.#callbackQuery().query) return;
    const { callbacks } = this.#snapshot;
    const shown = callbacks?.query === query ? callbacks.rows : [];
    const held =
      this.#isHeld && shown.length > 0
        ? holdRows({ shown, fetched: page.callbacks, keyOf: ({ id }) => id })
        : { rows: page.callbacks, unseen: 0 };
    this.#receive({ callbacks: { ...held, total: page.total, query } });
  }

  #callbackQuery(): { group: CallbackGroup | undefined; search: string; query: string } {
    const group = this.#route.view === 'callbacks' ? this.#route.group : undefined;
    const search = this.#snapshot.callbackSearch;
    return { group, search, query: `${group ?? ''} ${search}` };
  }

  async #loadDetail(): Promise<void> {
    const referenceNumber = toReference(this.#route);
    if (referenceNumber === undefined) return;
    const detail = await fetchDetail(referenceNumber);
    if (referenceNumber === toReference(this.#route)) this.#receive({ detail });
  }

  #fail(error: unknown): void {
    // The event stream notices that the mock is gone, and everything is fetched when it is back.
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

interface HoldOptions<Row> {
  readonly shown: readonly Row[];
  readonly fetched: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** Updates the shown rows in place, and counts the new ones. */
function holdRows<Row>({ shown, fetched, keyOf }: HoldOptions<Row>) {
  const newest = new Map(fetched.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => newest.get(keyOf(row)) ?? row);
  for (const row of shown) newest.delete(keyOf(row));
  return { rows, unseen: newest.size };
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
