import type { CallbackDiagnosis } from '../../../testing/diagnosis/diagnosis.js';
import type { CallbackEdit } from '../../callbacks/delivery.js';
import type { CallbackGroup } from '../../control/callback-groups.js';
import type {
  ControlAttemptPage,
  ControlCallbackPage,
  ControlCheck,
  ControlDelivery,
  ControlError,
  ControlEvent,
  ControlFaults,
  ControlPayment,
  ControlPaymentDetail,
  ControlPaymentPage,
  ControlRequestPage,
  ControlResendSummary,
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

interface PaymentQuery {
  readonly limit: number;
  readonly search: string;
  readonly before?: string | undefined;
}

interface CallbackQuery {
  readonly limit: number;
  readonly group?: CallbackGroup | undefined;
  readonly search: string;
}

/** The calls of the control interface that this page makes. */
export const control = {
  getState: () => call<ControlState>('GET', 'state'),
  setCallbackUrl: (callbackUrl: string | null) =>
    call<ControlState>('PATCH', 'settings', { callbackUrl }),
  listPayments: (query: PaymentQuery) =>
    call<ControlPaymentPage>('GET', `payments?${writeQuery({ ...query })}`),
  createPayment: (payment: Draft) => call<ControlPayment>('POST', 'payments', payment),
  getPayment: (referenceNumber: string) =>
    call<ControlPaymentDetail>('GET', pathOf(referenceNumber)),
  setStatus: (referenceNumber: string, status: string) =>
    call<ControlDelivery>('POST', `${pathOf(referenceNumber)}/status`, { status }),
  resend: (referenceNumber: string, fault?: Draft) =>
    call<ControlDelivery>('POST', `${pathOf(referenceNumber)}/resend`, { fault }),
  resendDelivery: (id: string) =>
    call<ControlDelivery>('POST', `deliveries/${encodeURIComponent(id)}/resend`, {}),
  resendEdited: (id: string, edit: CallbackEdit) =>
    call<ControlDelivery>('POST', `deliveries/${encodeURIComponent(id)}/resend`, { edit }),
  listAttempts: (limit: number) => call<ControlAttemptPage>('GET', `deliveries?limit=${limit}`),
  listCallbacks: (query: CallbackQuery) =>
    call<ControlCallbackPage>('GET', `callbacks?${writeQuery({ ...query })}`),
  resendGroup: (group: CallbackGroup) =>
    call<ControlResendSummary>('POST', 'callbacks/resend', { group }),
  getCheck: () => call<ControlCheck>('GET', 'check'),
  startCheck: (options: Draft) => call<ControlCheck>('POST', 'check', options),
  cancelCheck: () => call<ControlCheck>('DELETE', 'check'),
  diagnose: (captured: Draft) => call<CallbackDiagnosis>('POST', 'diagnose', captured),
  listRequests: (limit: number) => call<ControlRequestPage>('GET', `requests?limit=${limit}`),
  listFaults: () => call<ControlFaults>('GET', 'faults'),
  addFault: (fault: Draft) => call<ControlFaults>('POST', 'faults', fault),
  removeFault: (id: string) => call<ControlFaults>('DELETE', `faults/${encodeURIComponent(id)}`),
  clearFaults: () => call<ControlFaults>('DELETE', 'faults'),
  advanceClock: (ms: number) => call<ControlState>('POST', 'clock/advance', { ms }),
  reset: () => call<ControlState>('POST', 'reset', {}),
};

function writeQuery(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.toString();
}

function pathOf(referenceNumber: string): string {
  return `payments/${encodeURIComponent(referenceNumber)}`;
}

async function call<Answer>(method: string, path: string, body?: Draft): Promise<Answer> {
  const request: RequestInit = { method, cache: 'no-store' };
  if (body !== undefined) {
    request.headers = { 'content-type': 'application/json' };
    request.body = JSON.stringify(body);
  }
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
    const opened = new EventSource(`${CONTROL_BASE}events`);
    source = opened;
    opened.addEventListener('open', onOpen);
    // EventSource itself stops reconnecting after an answer that is not a stream, such as a proxy's.
    opened.addEventListener('error', () => {
      close();
      onLost();
      retry = window.setTimeout(open, RECONNECT_MS);
    });
    for (const type of types) {
      opened.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data)));
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
