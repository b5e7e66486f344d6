import { useEffect, useState } from 'preact/hooks';
import type {
  ControlAttempt,
  ControlCallback,
  ControlEvent,
  ControlFault,
  ControlPayment,
  ControlPaymentDetail,
  ControlRequest,
  ControlState,
  Page,
} from '../../control/control-types.js';
import { ControlFailure, control, followEvents, MockUnreachable } from './control-client.js';
import { describeOutcome } from './delivery-text.js';
import type { Route } from './route.js';
import { readServiceClock } from './time.js';

/** The rows of each list. */
interface RowOf {
  readonly payments: ControlPayment;
  readonly callbacks: ControlCallback;
  readonly requests: ControlRequest;
}

export type ListName = keyof RowOf;

export interface List<Row> {
  readonly rows: readonly Row[];
  /** How many match in all. */
  readonly total: number;
  /** How many of these the reader has had a chance to see; new ones wait while the list is held. */
  readonly seen: number;
  /** The search and the filter that the rows match. */
  readonly query: string;
}

type Lists = { readonly [Name in ListName]?: List<RowOf[Name]> };

/** What the overview shows: the newest of what went wrong. */
export interface Troubles {
  readonly callbacks: readonly ControlCallback[];
  readonly payments: readonly ControlPayment[];
  readonly requests: readonly ControlRequest[];
}

/** The data of the page, as last fetched. */
export interface Snapshot {
  readonly connection: 'connecting' | 'live' | 'reconnecting';
  readonly service?: ControlState | undefined;
  readonly lists: Lists;
  /** What is searched for in each list. */
  readonly searches: Readonly<Partial<Record<ListName, string>>>;
  /** The open payment; `missing` when the mock does not have it. */
  readonly detail?: ControlPaymentDetail | 'missing' | undefined;
  readonly troubles?: Troubles | undefined;
  readonly faults?: readonly ControlFault[] | undefined;
  /** The mock's message when it refused a call. */
  readonly failure?: string | undefined;
  /** For screen readers. */
  readonly announcement: string;
}

/** How many rows a list has at most; older ones are found by searching. */
const MAX_ROWS = 200;
/** How many of each kind of trouble are fetched. */
const MAX_TROUBLES = 50;
export const MAX_DELIVERIES = 200;
/** Pause between two fetches of the same part, so that a burst of events does not load the mock. */
const REFETCH_PAUSE_MS = 200;
/** Time for a screen reader to finish a sentence; what happens meanwhile is summarised in the next one. */
const ANNOUNCE_PAUSE_MS = 1_000;

/** Data fetched together. */
type Part = 'service' | 'detail' | 'troubles' | 'faults' | ListName;

const staleAfter: Readonly<Record<ControlEvent['type'], readonly Part[]>> = {
  payment: ['service', 'payments', 'detail', 'troubles'],
  request: ['service', 'requests', 'detail', 'troubles'],
  attempt: ['service', 'detail', 'callbacks', 'troubles'],
  delivery: ['service', 'detail', 'callbacks', 'troubles'],
  faults: ['service', 'faults'],
  limit: ['service'],
  state: ['service', 'detail'],
  reset: ['service', 'detail', 'troubles', 'faults', 'payments', 'callbacks', 'requests'],
};

// The page's copy of the mock's data. Events mark parts of it as stale; an animation frame fetches those that
// are stale and shown, never one part twice at a time. So a burst of a thousand events costs a handful of calls,
// nothing piles up, and no answer is older than the event that it was fetched for.
let snapshot: Snapshot = { connection: 'connecting', lists: {}, searches: {}, announcement: '' };
let route: Route = { view: 'payments' };
let isHeld = false;
let hasFrame = false;
const stale = new Set<Part>();
const busy = new Set<Part>();
const listeners = new Set<(snapshot: Snapshot) => void>();

export function useSnapshot(): Snapshot {
  const [shown, show] = useState(snapshot);
  useEffect(() => {
    listeners.add(show);
    return () => void listeners.delete(show);
  }, []);
  return shown;
}

function update(change: Partial<Snapshot>): void {
  snapshot = { ...snapshot, ...change };
  for (const listener of listeners) listener(snapshot);
}

export function start(): void {
  followEvents(Object.keys(staleAfter), {
    onOpen: () => {
      update({ connection: 'live' });
      refresh();
    },
    onLost: () => update({ connection: 'reconnecting' }),
    onEvent: (event) => {
      if (event.type === 'attempt') announce(event.attempt);
      if (event.type === 'reset') isHeld = false;
      markStale(staleAfter[event.type]);
    },
  });
}

/** Switches to a view and fetches its data. */
export function show(next: Route): void {
  const before = openPayment();
  if (route.view !== next.view) isHeld = false;
  route = next;
  if (before !== openPayment()) update({ detail: undefined });
  refresh();
}

/** Settles once the matches are there. */
export async function searchFor(name: ListName, text: string): Promise<void> {
  update({ searches: { ...snapshot.searches, [name]: text } });
  await load(name).catch(fail);
}

/** Holds the list while it is read: its rows stay, and new ones are counted. */
export function hold(holds: boolean): void {
  if (isHeld === holds) return;
  isHeld = holds;
  if (!holds) refresh();
}

/** Shows the rows held back so far. */
export async function showNewest(name: ListName): Promise<void> {
  const held = isHeld;
  isHeld = false;
  await load(name).finally(() => {
    isHeld = held;
  });
}

/** Fetches everything shown. For after an action, which is answered before its events are sent. */
export function refresh(): void {
  markStale(staleAfter.reset);
}

function openPayment(): string | undefined {
  return route.view === 'payments' ? route.rest : undefined;
}

const announced: ControlAttempt[] = [];

/** Announces that an attempt to deliver a callback has ended. */
function announce(attempt: ControlAttempt): void {
  if (announced.push(attempt) > 1) return;
  window.setTimeout(() => {
    const attempts = announced.splice(0);
    const { status, merchantPaymentReference } = attempts.at(-1) ?? attempt;
    const outcome = describeOutcome(attempts.at(-1) ?? attempt);
    const count = attempts.length > 1 ? `${attempts.length} callback attempts. The last one: ` : '';
    const announcement = `${count}Callback ${status} of ${merchantPaymentReference}: ${outcome}`;
    update({ announcement });
  }, ANNOUNCE_PAUSE_MS);
}

function markStale(parts: readonly Part[]): void {
  for (const part of parts) stale.add(part);
  if (hasFrame) return;
  hasFrame = true;
  requestAnimationFrame(() => {
    hasFrame = false;
    // A hidden page follows no events either. When it is shown, it reconnects and fetches everything.
    if (!document.hidden) for (const part of [...stale]) fetchPart(part);
  });
}

function fetchPart(part: Part): void {
  if (busy.has(part)) return;
  stale.delete(part);
  // A view fetches its parts when it is opened.
  if (!isShown(part)) return;
  busy.add(part);
  void load(part)
    .catch(fail)
    .then(() => {
      window.setTimeout(() => {
        busy.delete(part);
        if (stale.has(part)) markStale([part]);
      }, REFETCH_PAUSE_MS);
    });
}

function isShown(part: Part): boolean {
  if (part === 'service') return true;
  if (part === 'detail') return openPayment() !== undefined;
  return route.view === (part === 'troubles' ? 'payments' : part);
}

async function load(part: Part): Promise<void> {
  const change = await fetchers[part]();
  update({ failure: undefined, ...change });
}

const fetchers: Readonly<Record<Part, () => Promise<Partial<Snapshot>>>> = {
  async service() {
    const service = await control.getState();
    readServiceClock(service.now, service.clockRuns);
    return { service };
  },
  async detail() {
    const referenceNumber = openPayment() ?? '';
    const detail = await fetchDetail(referenceNumber);
    return referenceNumber === openPayment() ? { detail } : {};
  },
  async troubles() {
    const [{ callbacks }, { payments }, lost, refused] = await Promise.all([
      control.listCallbacks({ group: 'failed', limit: MAX_TROUBLES }),
      control.listPayments({ second: 'true', limit: MAX_TROUBLES }),
      control.listRequests({ outcome: 'lost', limit: MAX_TROUBLES }),
      control.listRequests({ outcome: 'refused', limit: MAX_TROUBLES }),
    ]);
    const requests = [...lost.requests, ...refused.requests].sort(
      (left, right) => Date.parse(right.at) - Date.parse(left.at),
    );
    return { troubles: { callbacks, payments, requests } };
  },
  faults: () => control.listFaults(),
  payments: () =>
    loadList('payments', control.listPayments, ({ referenceNumber }) => referenceNumber),
  callbacks: () =>
    loadList(
      'callbacks',
      ({ filter: group, ...query }) => control.listCallbacks({ ...query, group }),
      ({ id }) => id,
    ),
  requests: () =>
    loadList(
      'requests',
      ({ filter: outcome, ...query }) => control.listRequests({ ...query, outcome }),
      ({ requestId }) => requestId,
    ),
};

async function fetchDetail(referenceNumber: string): Promise<ControlPaymentDetail | 'missing'> {
  try {
    const detail = await control.getPayment(referenceNumber);
    return { ...detail, deliveries: detail.deliveries.slice(-MAX_DELIVERIES) };
  } catch (error) {
    if (error instanceof ControlFailure && error.status === 404) return 'missing';
    throw error;
  }
}

// A type, as an interface is no Record.
type Query = { readonly search: string | undefined; readonly filter: string | undefined };

function queryOf(name: ListName): Query {
  const filter = name !== 'payments' && route.view === name ? route.rest : undefined;
  return { search: snapshot.searches[name], filter };
}

async function loadList<Name extends ListName>(
  name: Name,
  list: (query: Query & { limit: number }) => Promise<Page<Name, RowOf[Name]>>,
  keyOf: (row: RowOf[Name]) => string,
): Promise<Partial<Snapshot>> {
  const query = JSON.stringify(queryOf(name));
  const { [name]: rows, total } = await list({ ...queryOf(name), limit: MAX_ROWS });
  // The answer to an earlier search is of no use.
  if (query !== JSON.stringify(queryOf(name))) return {};
  const shown = snapshot.lists[name] as List<RowOf[Name]> | undefined;
  const newest = new Map(rows.map((row) => [keyOf(row), row]));
  const next =
    isHeld && shown?.query === query && shown.rows.length > 0
      ? { ...shown, rows: shown.rows.map((row) => newest.get(keyOf(row)) ?? row), total }
      : { rows, total, seen: total, query };
  return { lists: { ...snapshot.lists, [name]: next } };
}

function fail(error: unknown): void {
  // The event stream notices that the mock is gone, and everything is fetched when it is back.
  if (error instanceof MockUnreachable) return;
  update({ failure: error instanceof Error ? error.message : String(error) });
}
