import { useEffect, useState } from 'preact/hooks';
import {
  type ControlDelivery,
  type ControlEvent,
  type ControlSettings,
  type ControlState,
  SHOWN,
} from '../../control/control-types.js';
import { control, followEvents, MockUnreachable } from './control-client.js';
import { readServiceClock } from './format.js';

/** What the page shows: the mock's state, fetched once for each connection and kept up to date by its events. */
export interface Snapshot {
  readonly connection: 'connecting' | 'live' | 'reconnecting';
  readonly state?: ControlState | undefined;
  readonly failure?: string | undefined;
}

let snapshot: Snapshot = { connection: 'connecting' };
/** What arrived while the state is fetched, or since the last frame. */
let pending: ControlEvent[] = [];
let isLoading = false;
let hasFrame = false;
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
  followEvents({
    onOpen: () => {
      update({ connection: 'live' });
      void load();
    },
    onLost: () => update({ connection: 'reconnecting' }),
    onEvent: (event) => {
      pending.push(event);
      if (hasFrame) return;
      hasFrame = true;
      // A burst of events is drawn once.
      requestAnimationFrame(() => {
        hasFrame = false;
        applyPending();
      });
    },
  });
}

async function load(): Promise<void> {
  isLoading = true;
  try {
    const state = await control.getState();
    readServiceClock(state.now, state.clockRuns);
    update({ state, failure: undefined });
  } catch (error) {
    // The event stream notices that the mock is gone, and reads the state when it is back.
    if (!(error instanceof MockUnreachable)) update({ failure: String(error) });
  }
  isLoading = false;
  applyPending();
}

function applyPending(): void {
  if (isLoading || snapshot.state === undefined || pending.length === 0) return;
  const events = pending;
  pending = [];
  update({ state: events.reduce(apply, snapshot.state) });
}

/** The state after an event, which may be part of it already. */
function apply(state: ControlState, event: ControlEvent): ControlState {
  switch (event.type) {
    case 'payment': {
      const isNew = event.payment.history.length === 1;
      const next = put(state, 'payments', 'referenceNumber', event.payment, isNew);
      if (event.payment.secondOf === undefined || next.counts === state.counts) return next;
      const secondPayments = next.counts.secondPayments + 1;
      return { ...next, counts: { ...next.counts, secondPayments } };
    }
    case 'request':
      return put(state, 'requests', 'requestId', event.request, !event.request.ended);
    case 'delivery': {
      const known = state.deliveries.find(({ id }) => id === event.delivery.id);
      const delivery = { attempts: [], ...known, ...event.delivery };
      return put(state, 'deliveries', 'id', delivery, event.isNew);
    }
    case 'attempt': {
      const { attempt } = event;
      const known = state.deliveries.find(({ id }) => id === attempt.deliveryId);
      // Of an old delivery, which the page does not show.
      if (known === undefined) return state;
      const others = known.attempts.filter(({ id }) => id !== attempt.id);
      const delivery: ControlDelivery = { ...known, attempts: [...others, attempt] };
      return put(state, 'deliveries', 'id', delivery, false);
    }
    case 'faults':
      return { ...state, faults: event.faults };
    case 'limit':
      return state;
    case 'settings':
      return { ...state, ...readSettings(event.settings) };
    case 'reset':
      return {
        ...state,
        ...readSettings(event.settings),
        payments: [],
        requests: [],
        deliveries: [],
        faults: [],
        counts: { payments: 0, requests: 0, deliveries: 0, secondPayments: 0 },
      };
  }
}

function readSettings(settings: ControlSettings): ControlSettings {
  readServiceClock(settings.now, settings.clockRuns);
  return settings;
}

type ListName = 'payments' | 'requests' | 'deliveries';
type Row<Name extends ListName> = ControlState[Name][number];

/** Replaces a row in its place, or adds a new one as the newest. Others are too old to be shown. */
function put<Name extends ListName>(
  state: ControlState,
  name: Name,
  key: keyof Row<Name>,
  row: Row<Name>,
  isNew: boolean,
): ControlState {
  const rows = state[name] as readonly Row<Name>[];
  const place = rows.findIndex((other) => other[key] === row[key]);
  if (place >= 0) return { ...state, [name]: rows.with(place, row) };
  if (!isNew) return state;
  const counts = { ...state.counts, [name]: state.counts[name] + 1 };
  return { ...state, [name]: [row, ...rows].slice(0, SHOWN), counts };
}
