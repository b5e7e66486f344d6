import { describeIssues, InvalidOptionError, MockServerError } from '../../errors.js';
import { operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import { version } from '../../protocol/version.js';
import { sizeOfRequest } from '../api/recorded-request.js';
import { sizeOfAttempt } from '../callbacks/delivery.js';
import type { CallbackDispatcher } from '../callbacks/dispatcher.js';
import type { EventFeed, MockEvent } from '../events.js';
import type { CallbackFault, Fault } from '../faults/fault.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServiceOptions } from '../options.js';
import { isAdvanceable } from '../state/clock.js';
import type { PaymentBook } from '../state/payments.js';
import {
  assertOnly,
  type ControlCall,
  ControlFailure,
  controlAnswer,
  failureAnswer,
  type Route,
  readControlCall,
  readLimit,
  routeCall,
} from './control-call.js';
import type { ControlEvent, ControlFaults, ControlState } from './control-types.js';
import {
  UNLIMITED,
  viewAttempt,
  viewDelivery,
  viewFault,
  viewPayment,
  viewRequest,
} from './control-view.js';
import { EventStreams } from './event-stream.js';

interface ControlInterfaceOptions {
  readonly service: MockService & { readonly url: string };
  readonly settings: ResolvedServiceOptions;
  readonly feed: EventFeed;
  readonly payments: PaymentBook;
  readonly dispatcher: CallbackDispatcher;
  /** Answers with the dashboard. */
  readonly page: () => Promise<Response>;
}

/** Whether a path is the control interface's and not the service's own. */
export function isControlPath(pathname: string): boolean {
  return pathname === '/_mock' || pathname.startsWith('/_mock/');
}

/** Controls a mock server for people and tools: JSON below `/_mock/`, and the dashboard's page. */
export class ControlInterface {
  readonly #options: ControlInterfaceOptions;
  readonly #streams: EventStreams;
  #isAdvancing = false;
  readonly #routes: readonly Route[] = [
    ['GET', '', () => redirectToPage()],
    ['GET', '/', () => this.#options.page()],
    ['GET', '/state', () => controlAnswer(200, this.#state())],
    ['PATCH', '/settings', (call) => this.#changeSettings(call)],
    ['GET', '/payments', (call) => this.#listPayments(call)],
    ['POST', '/payments', (call) => this.#createPayment(call)],
    ['GET', '/payments/:id', (_call, id) => this.#showPayment(id)],
    ['POST', '/payments/:id/status', (call, id) => this.#setStatus(call, id)],
    ['POST', '/payments/:id/resend', (call, id) => this.#resendPayment(call, id)],
    ['GET', '/deliveries', (call) => this.#listAttempts(call)],
    ['POST', '/deliveries/:id/resend', (call, id) => this.#resendDelivery(call, id)],
    ['GET', '/requests', (call) => this.#listRequests(call)],
    ['GET', '/faults', () => controlAnswer(200, this.#faults())],
    ['POST', '/faults', (call) => this.#addFault(call)],
    ['DELETE', '/faults', () => this.#clearFaults()],
    ['POST', '/clock/advance', (call) => this.#advanceClock(call)],
    ['POST', '/reset', (call) => this.#reset(call)],
    ['GET', '/events', ({ signal }) => this.#streams.open(signal)],
  ];

  constructor(options: ControlInterfaceOptions) {
    this.#options = options;
    this.#streams = new EventStreams({ feed: options.feed, view: (event) => this.#view(event) });
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const call = await readControlCall(request);
      return await routeCall(this.#routes, call);
    } catch (error) {
      return failureAnswer(toFailure(error));
    }
  }

  /** Ends the open event streams. */
  close(): void {
    this.#streams.close();
  }

  #state(): ControlState {
    const { service, settings } = this.#options;
    const { clock, signatureEncoding, retryScheduleMs } = settings;
    return {
      url: service.url,
      version,
      now: new Date(clock.now()).toISOString(),
      canAdvanceClock: isAdvanceable(clock),
      callbackUrl: service.callbackUrl ?? null,
      signatureEncoding,
      retryScheduleMs,
      counts: {
        payments: this.#options.payments.size,
        requests: service.requests.length,
        deliveries: service.deliveries.length,
        faults: service.faults.pending().length,
      },
    };
  }

  #changeSettings({ body }: ControlCall): Response {
    assertOnly(body, 'callbackUrl');
    const { callbackUrl } = body;
    if (callbackUrl === undefined) {
      throw new ControlFailure(
        'INVALID_REQUEST',
        'callbackUrl must be an http or https URL, or null for none, but it is missing',
      );
    }
    this.#options.service.callbackUrl = callbackUrl === null ? undefined : (callbackUrl as string);
    return controlAnswer(200, this.#state());
  }

  #listPayments({ query }: ControlCall): Response {
    const { payments, total, next } = this.#options.payments.page({
      limit: readLimit(query),
      before: query.get('before') ?? undefined,
      search: query.get('search') ?? undefined,
    });
    return controlAnswer(200, { payments: payments.map(viewPayment), total, next });
  }

  #createPayment({ body }: ControlCall): Response {
    const issues = operations.createPayment.findInputIssues(body);
    if (issues !== undefined) {
      throw new ControlFailure('INVALID_REQUEST', describeIssues(issues));
    }
    const payment = this.#options.payments.create(
      body as unknown as CreatePaymentInput & Record<string, unknown>,
    );
    return controlAnswer(201, viewPayment(payment));
  }

  #showPayment(id: string): Response {
    const payment = this.#options.payments.get(id);
    if (payment === undefined) throw unknown('payment', id);
    const newest = this.#options.dispatcher.list(id).reverse();
    const shown = takeFitting(newest, ({ attempts }) =>
      attempts.reduce((sum, attempt) => sum + sizeOfAttempt(attempt), 0),
    );
    return controlAnswer(200, {
      payment: viewPayment(payment),
      deliveries: shown.reverse().map(viewDelivery),
    });
  }

  async #setStatus({ body }: ControlCall, id: string): Promise<Response> {
    assertOnly(body, 'status');
    const { service, payments } = this.#options;
    if (payments.get(id) === undefined) throw unknown('payment', id);
    return controlAnswer(200, viewDelivery(await service.setStatus(id, body['status'] as string)));
  }

  #resendPayment(call: ControlCall, id: string): Promise<Response> {
    if (this.#options.payments.get(id) === undefined) throw unknown('payment', id);
    return this.#resend(call, id);
  }

  #resendDelivery(call: ControlCall, id: string): Promise<Response> {
    if (this.#options.dispatcher.get(id) === undefined) throw unknown('delivery', id);
    return this.#resend(call, id);
  }

  async #resend({ body }: ControlCall, id: string): Promise<Response> {
    assertOnly(body, 'fault');
    const fault = body['fault'] as CallbackFault | undefined;
    return controlAnswer(200, viewDelivery(await this.#options.service.resend(id, { fault })));
  }

  #listAttempts({ query }: ControlCall): Response {
    const wanted = query.get('referenceNumber');
    const attempts = this.#options.service.deliveries.filter(
      ({ referenceNumber }) => wanted === null || wanted === referenceNumber,
    );
    const newest = takeFitting(attempts.slice(-readLimit(query)).reverse(), sizeOfAttempt);
    return controlAnswer(200, { attempts: newest.map(viewAttempt), total: attempts.length });
  }

  #listRequests({ query }: ControlCall): Response {
    const { requests } = this.#options.service;
    const newest = takeFitting(requests.slice(-readLimit(query)).reverse(), sizeOfRequest);
    return controlAnswer(200, { requests: newest.map(viewRequest), total: requests.length });
  }

  #faults(): ControlFaults {
    return { faults: this.#options.service.faults.pending().map(viewFault) };
  }

  #addFault({ body }: ControlCall): Response {
    const times = body['times'] === UNLIMITED ? Number.POSITIVE_INFINITY : body['times'];
    this.#options.service.faults.add({ ...body, times } as Fault);
    return controlAnswer(201, this.#faults());
  }

  #clearFaults(): Response {
    this.#options.service.faults.clear();
    return controlAnswer(200, this.#faults());
  }

  async #advanceClock({ body }: ControlCall): Promise<Response> {
    assertOnly(body, 'ms');
    const { clock } = this.#options.settings;
    if (!isAdvanceable(clock)) {
      throw new ControlFailure(
        'CONFLICT',
        "The clock of this service can't be moved: the one given as an option has no advance()",
      );
    }
    if (this.#isAdvancing) {
      throw new ControlFailure('CONFLICT', 'The clock is being advanced already; try again');
    }
    this.#isAdvancing = true;
    try {
      // The retry of an attempt that is under way has no time yet.
      await this.#options.dispatcher.settled();
      await clock.advance(body['ms'] as number);
    } finally {
      this.#isAdvancing = false;
    }
    this.#options.feed.emit({ type: 'clock' });
    return controlAnswer(200, this.#state());
  }

  #reset({ body }: ControlCall): Response {
    assertOnly(body);
    this.#options.service.reset();
    return controlAnswer(200, this.#state());
  }

  #view(event: MockEvent): ControlEvent {
    switch (event.type) {
      case 'payment':
        return { type: 'payment', payment: viewPayment(event.payment) };
      case 'request':
        return { type: 'request', request: viewRequest(event.request) };
      case 'attempt':
        return { type: 'attempt', attempt: viewAttempt(event.attempt) };
      case 'delivery': {
        const { id, referenceNumber, status, state } = event.delivery;
        return { type: 'delivery', delivery: { id, referenceNumber, status, state } };
      }
      case 'faults':
        return { type: 'faults', faults: event.faults.map(viewFault) };
      case 'reset':
        return { type: 'reset', state: this.#state() };
      default:
        return { type: 'state', state: this.#state() };
    }
  }
}

/** About how much an answer may hold; a caller who wants more asks for one payment at a time. */
const MAX_ANSWER_BYTES = 16_777_216;

/** As many as fit into an answer, one in any case. */
function takeFitting<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Item[] {
  let bytes = 0;
  return items.filter((item, index) => {
    bytes += sizeOf(item);
    return index === 0 || bytes <= MAX_ANSWER_BYTES;
  });
}

function redirectToPage(): Response {
  return new Response(null, { status: 308, headers: { location: '/_mock/' } });
}

function unknown(what: string, id: string): ControlFailure {
  const shown = id.length <= 100 ? `"${id}"` : `of ${id.length} characters`;
  return new ControlFailure('NOT_FOUND', `There is no ${what} ${shown} in this service`);
}

function toFailure(error: unknown): ControlFailure {
  if (error instanceof ControlFailure) return error;
  if (error instanceof InvalidOptionError) {
    return new ControlFailure('INVALID_REQUEST', error.message, { option: error.option });
  }
  if (error instanceof MockServerError && error.code === 'CLOCK_BUSY') {
    return new ControlFailure('CONFLICT', error.message);
  }
  // The only other failure: the service was closed meanwhile.
  const message = error instanceof Error ? error.message : String(error);
  return new ControlFailure('UNAVAILABLE', message);
}
