import type {
  ControlDelivery,
  ControlError,
  ControlFaults,
  ControlPayment,
  ControlPaymentDetail,
  ControlPaymentPage,
  ControlRequestPage,
  ControlState,
} from '../../../control/control-types.js';

/** The base of the control interface; this page is served from it. */
export const CONTROL_BASE = '/_mock/';

/** The mock answered with an error; the message is its own. */
export class ControlFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** No answer came at all. */
export class MockUnreachable extends Error {}

/** What a form has put together. The mock checks it, and its message says what is wrong. */
export type Draft = Readonly<Record<string, unknown>>;

interface PaymentQuery {
  readonly limit: number;
  readonly search: string;
  readonly before?: string | undefined;
}

/** The calls of the control interface that this page makes. */
export const control = {
  getState: () => call<ControlState>('GET', 'state'),
  setCallbackUrl: (callbackUrl: string | null) =>
    call<ControlState>('PATCH', 'settings', { callbackUrl }),
  listPayments: ({ limit, search, before }: PaymentQuery) => {
    const query = new URLSearchParams({ limit: String(limit) });
    if (search !== '') query.set('search', search);
    if (before !== undefined) query.set('before', before);
    return call<ControlPaymentPage>('GET', `payments?${query}`);
  },
  createPayment: (payment: Draft) => call<ControlPayment>('POST', 'payments', payment),
  getPayment: (referenceNumber: string) =>
    call<ControlPaymentDetail>('GET', pathOf(referenceNumber)),
  setStatus: (referenceNumber: string, status: string) =>
    call<ControlDelivery>('POST', `${pathOf(referenceNumber)}/status`, { status }),
  resend: (referenceNumber: string, fault?: Draft) =>
    call<ControlDelivery>('POST', `${pathOf(referenceNumber)}/resend`, { fault }),
  resendDelivery: (id: string) =>
    call<ControlDelivery>('POST', `deliveries/${encodeURIComponent(id)}/resend`, {}),
  listRequests: (limit: number) => call<ControlRequestPage>('GET', `requests?limit=${limit}`),
  listFaults: () => call<ControlFaults>('GET', 'faults'),
  addFault: (fault: Draft) => call<ControlFaults>('POST', 'faults', fault),
  clearFaults: () => call<ControlFaults>('DELETE', 'faults'),
  advanceClock: (ms: number) => call<ControlState>('POST', 'clock/advance', { ms }),
};

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
  throw new ControlFailure(response.status, readMessage(answer) ?? `HTTP ${response.status}`);
}

function readMessage(answer: unknown): string | undefined {
  const { message } = (answer ?? {}) as Partial<ControlError>;
  return typeof message === 'string' ? message : undefined;
}
