import type {
  ControlDelivery,
  ControlError,
  ControlEvent,
  ControlFaults,
  ControlSettings,
  ControlState,
} from '../../control/control-types.js';

/** The base of the control interface, which this page is served from. */
const BASE = '/_mock/';

/** The mock did not answer. */
export class MockUnreachable extends Error {}

/** The content of a form, which the mock validates. */
export type Draft = Readonly<Record<string, unknown>>;

const encode = encodeURIComponent;

/** The calls of the control interface that this page makes. */
export const control = {
  getState: () => call<ControlState>('GET', 'state'),
  setCallbackUrl: (callbackUrl: string | null) =>
    call<ControlSettings>('PATCH', 'settings', { callbackUrl }),
  setStatus: (id: string, status: string) =>
    call<ControlDelivery>('POST', `payments/${encode(id)}/status`, { status }),
  /** @param id - of a delivery, or of a payment for its current status */
  resend: (id: string, options: Draft = {}) =>
    call<ControlDelivery>('POST', `deliveries/${encode(id)}/resend`, options),
  addFault: (fault: Draft) => call<ControlFaults>('POST', 'faults', fault),
  removeFault: (id: string) => call<ControlFaults>('DELETE', `faults/${encode(id)}`),
  clearFaults: () => call<ControlFaults>('DELETE', 'faults'),
  advanceClock: (ms: number) => call<ControlSettings>('POST', 'clock/advance', { ms }),
  reset: () => call<ControlSettings>('POST', 'reset', {}),
};

/** How long a creation is waited for, as a client would. */
const CLIENT_TIMEOUT_MS = 10_000;

/** Creates a payment by a request, as a client would. Says what came of it. */
export async function createPayment(payment: Draft): Promise<string> {
  const request = { ...post(payment), signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS) };
  try {
    const response = await fetch(`${BASE}api/payments`, request);
    const text = await response.text();
    return response.ok ? 'Created.' : `Refused with ${response.status}: ${text.slice(0, 200)}`;
  } catch {
    return 'No answer arrived. The first line of the stream says why.';
  }
}

const post = (body: Draft): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function call<Answer>(method: string, path: string, body?: Draft): Promise<Answer> {
  const request = { ...(body && post(body)), method, cache: 'no-store' } as const;
  const response = await fetch(BASE + path, request).catch(() => {
    throw new MockUnreachable('The mock does not answer. Is it still running?');
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as Answer;
  const { message } = (answer ?? {}) as Partial<ControlError>;
  throw new Error(message ?? `HTTP ${response.status}`);
}

interface EventStreamOptions {
  /** The stream is open: what the page shows may be out of date. */
  readonly onOpen: () => void;
  readonly onEvent: (event: ControlEvent) => void;
  /** The stream broke, and will be reopened. */
  readonly onLost: () => void;
}

const TYPES: readonly ControlEvent['type'][] = [
  'payment',
  'request',
  'attempt',
  'delivery',
  'faults',
  'limit',
  'settings',
  'reset',
];
const RECONNECT_MS = 1_000;

/**
 * Follows the mock's events as long as the page is open. A hidden page closes its connection: a browser
 * allows six per origin, and six forgotten tabs would block the seventh.
 */
export function followEvents({ onOpen, onEvent, onLost }: EventStreamOptions): void {
  let source: EventSource | undefined;
  let retry: number | undefined;

  function close(): void {
    window.clearTimeout(retry);
    source?.close();
    source = undefined;
  }

  function open(): void {
    close();
    source = new EventSource(`${BASE}events`);
    source.addEventListener('open', onOpen);
    // EventSource itself stops reconnecting after an answer that is not a stream, such as a proxy's.
    source.addEventListener('error', () => {
      close();
      onLost();
      retry = window.setTimeout(open, RECONNECT_MS);
    });
    for (const type of TYPES) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data)));
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
