import type {
  ControlCallbackPage,
  ControlDelivery,
  ControlDiagnosis,
  ControlError,
  ControlEvent,
  ControlFaults,
  ControlPayment,
  ControlPaymentDetail,
  ControlPaymentPage,
  ControlRequestPage,
  ControlState,
} from '../../control/control-types.js';

/** The base of the control interface, which this page is served from. */
const CONTROL_BASE = '/_mock/';

/** The mock answered with an error; the message is the mock's. */
export class ControlFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The mock did not answer. */
export class MockUnreachable extends Error {}

/** The content of a form, which the mock validates. */
export type Draft = Readonly<Record<string, unknown>>;

type Query = Readonly<Record<string, string | number | undefined>>;

/** The calls of the control interface that this page makes. */
export const control = {
  getState: () => call<ControlState>('GET', 'state'),
  setCallbackUrl: (callbackUrl: string | null) =>
    call<ControlState>('PATCH', 'settings', { callbackUrl }),
  listPayments: (query: Query) => call<ControlPaymentPage>('GET', `payments?${write(query)}`),
  listCallbacks: (query: Query) => call<ControlCallbackPage>('GET', `callbacks?${write(query)}`),
  listRequests: (query: Query) => call<ControlRequestPage>('GET', `requests?${write(query)}`),
  createPayment: (payment: Draft) => call<ControlPayment>('POST', 'payments', payment),
  getPayment: (id: string) => call<ControlPaymentDetail>('GET', `payments/${encode(id)}`),
  setStatus: (id: string, status: string) =>
    call<ControlDelivery>('POST', `payments/${encode(id)}/status`, { status }),
  resend: (id: string, fault?: Draft) =>
    call<ControlDelivery>('POST', `payments/${encode(id)}/resend`, { fault }),
  resendDelivery: (id: string, edit?: Draft) =>
    call<ControlDelivery>('POST', `deliveries/${encode(id)}/resend`, { edit }),
  diagnose: (attemptId: string, signingSecret?: string) =>
    call<ControlDiagnosis>('POST', 'diagnose', { attemptId, signingSecret }),
  listFaults: () => call<ControlFaults>('GET', 'faults'),
  addFault: (fault: Draft) => call<ControlFaults>('POST', 'faults', fault),
  removeFault: (id: string) => call<ControlFaults>('DELETE', `faults/${encode(id)}`),
  clearFaults: () => call<ControlFaults>('DELETE', 'faults'),
  advanceClock: (ms: number) => call<ControlState>('POST', 'clock/advance', { ms }),
  reset: () => call<ControlState>('POST', 'reset', {}),
};

/** How long a creation is waited for, as a client would. */
const CLIENT_TIMEOUT_MS = 10_000;

/** Creates a payment through the API and its faults. What the mock answered is in its log of requests. */
export async function createAsClient(payment: Draft): Promise<void> {
  const request = { ...post(payment), signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS) };
  try {
    await (await fetch(`${CONTROL_BASE}api/payments`, request)).text();
  } catch {
    // The mock never answered.
  }
}

const encode = encodeURIComponent;

function write(fields: Query): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

const post = (body: Draft): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function call<Answer>(method: string, path: string, body?: Draft): Promise<Answer> {
  const request = { ...(body && post(body)), method, cache: 'no-store' } as const;
  const response = await fetch(CONTROL_BASE + path, request).catch(() => {
    throw new MockUnreachable('The mock does not answer. Is it still running?');
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as Answer;
  const { message } = (answer ?? {}) as Partial<ControlError>;
  throw new ControlFailure(response.status, message ?? `HTTP ${response.status}`);
}

interface EventStreamOptions {
  /** The stream is open: what the page shows may be out of date. */
  readonly onOpen: () => void;
  readonly onEvent: (event: ControlEvent) => void;
  /** The stream broke, and will be reopened. */
  readonly onLost: () => void;
}

const RECONNECT_MS = 1_000;

/**
 * Follows the mock's events as long as the page is open. A hidden page closes its connection: a browser
 * allows six per origin, and six forgotten tabs would block the seventh.
 */
export function followEvents(
  types: readonly string[],
  { onOpen, onEvent, onLost }: EventStreamOptions,
): void {
  let source: EventSource | undefined;
  let retry: number | undefined;

  function close(): void {
    window.clearTimeout(retry);
    source?.close();
    source = undefined;
  }

  function open(): void {
    close();
    source = new EventSource(`${CONTROL_BASE}events`);
    source.addEventListener('open', onOpen);
    // EventSource itself stops reconnecting after an answer that is not a stream, such as a proxy's.
    source.addEventListener('error', () => {
      close();
      onLost();
      retry = window.setTimeout(open, RECONNECT_MS);
    });
    for (const type of types) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data)));
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
