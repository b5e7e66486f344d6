import { describeIssues } from '../../errors.js';
import { operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import { version } from '../../protocol/version.js';
import type { PlainAnswer, PlainRequest } from '../api/http-messages.js';
import { sizeOfRequest } from '../api/recorded-request.js';
import { sizeOfAttempt } from '../callbacks/delivery.js';
import type { MockEvent } from '../events.js';
import type { CallbackFault } from '../faults/fault.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServiceOptions } from '../options.js';
import type { ServiceInside } from '../service.js';
import { isAdvanceable } from '../state/clock.js';
import { countGroups, groupCallbacks } from './callback-groups.js';
import { callbackRoutes } from './callback-routes.js';
import * as bodies from './control-bodies.js';
import {
  answerCall,
  type ControlCall,
  ControlFailure,
  controlAnswer,
  notFound,
  type Route,
  readLimit,
} from './control-call.js';
import type { ControlEvent, ControlState } from './control-types.js';
import { viewAttempt, viewDelivery, viewPayment, viewRequest } from './control-view.js';
import { EndpointCheckRun } from './endpoint-check-run.js';
import { endpointRoutes } from './endpoint-routes.js';
import { EventStreams } from './event-stream.js';
import { faultRoutes, viewFaults } from './fault-routes.js';

interface ControlInterfaceOptions extends ServiceInside {
  readonly service: MockService & { readonly url: string };
  readonly settings: ResolvedServiceOptions;
  /** Returns the dashboard. */
  readonly page: () => Promise<PlainAnswer>;
}

/** Whether a path belongs to the control interface, not to the service's own interface. */
export function isControlPath(pathname: string): boolean {
  return pathname === '/_mock' || pathname.startsWith('/_mock/');
}

/** Lets people and tools control a mock server: JSON below `/_mock/`, and the dashboard's page. */
export class ControlInterface {
  readonly #options: ControlInterfaceOptions;
  readonly #streams: EventStreams;
  readonly #check = new EndpointCheckRun();
  #isAdvancing = false;
  readonly #routes: readonly Route[];

  constructor(options: ControlInterfaceOptions) {
    this.#options = options;
    this.#streams = new EventStreams({ feed: options.feed, view: (event) => this.#view(event) });
    this.#routes = [
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
      ['POST', '/clock/advance', (call) => this.#advanceClock(call)],
      ['POST', '/reset', (call) => this.#reset(call)],
      ['GET', '/events', ({ signal }) => this.#streams.open(signal)],
      ...callbackRoutes(options),
      ...endpointRoutes(this.#check, options),
      ...faultRoutes(options.faults),
    ];
  }

  answer(request: PlainRequest): Promise<PlainAnswer> {
    return answerCall(this.#routes, request);
  }

  /** Ends the open event streams and a running check. */
  close(): void {
    this.#check.cancel();
    this.#streams.close();
  }

  #state(): ControlState {
    const { service, settings, caps } = this.#options;
    const { clock, signatureEncoding, retryScheduleMs } = settings;
    return {
      url: service.url,
      version,
      now: new Date(clock.now()).toISOString(),
      aheadMs: clock.now() - Date.now(),
      canAdvanceClock: isAdvanceable(clock),
      callbackUrl: service.callbackUrl ?? null,
      signatureEncoding,
      retryScheduleMs,
      counts: {
        payments: this.#options.payments.size,
        requests: service.requests.length,
        deliveries: service.deliveries.length,
        callbacks: countGroups(groupCallbacks(this.#options.dispatcher.list())),
        faults: this.#options.faults.list().length,
      },
      dropped: {
        payments: caps.payments.dropped,
        requests: caps.requests.dropped,
        deliveries: caps.deliveries.dropped,
        callbacks: caps.callbacks.dropped,
      },
    };
  }

  #changeSettings(call: ControlCall): PlainAnswer {
    const { callbackUrl } = bodies.readBody(bodies.settings, call);
    this.#options.service.callbackUrl = callbackUrl ?? undefined;
    return controlAnswer(200, this.#state());
  }

  #listPayments({ query }: ControlCall): PlainAnswer {
    const { payments, total, next } = this.#options.payments.page({
      limit: readLimit(query),
      before: query.get('before') ?? undefined,
      search: query.get('search') ?? undefined,
    });
    return controlAnswer(200, { payments: payments.map(viewPayment), total, next });
  }

  #createPayment({ body }: ControlCall): PlainAnswer {
    const issues = operations['payments.create'].findInputIssues(body);
    if (issues !== undefined) {
      throw new ControlFailure('INVALID_REQUEST', describeIssues(issues));
    }
    const payment = this.#options.payments.create(
      body as unknown as CreatePaymentInput & Record<string, unknown>,
    );
    return controlAnswer(201, viewPayment(payment));
  }

  #showPayment(id: string): PlainAnswer {
    const payment = this.#options.payments.get(id);
    if (payment === undefined) throw notFound('payment', id);
    const deliveries = this.#options.dispatcher.list();
    const newest = deliveries.filter((one) => one.referenceNumber === id).reverse();
    const shown = this.#takeFitting(newest, ({ attempts }) =>
      attempts.reduce((sum, attempt) => sum + sizeOfAttempt(attempt), 0),
    );
    return controlAnswer(200, {
      payment: viewPayment(payment),
      deliveries: shown.reverse().map(viewDelivery),
    });
  }

  async #setStatus(call: ControlCall, id: string): Promise<PlainAnswer> {
    const { status } = bodies.readBody(bodies.newStatus, call);
    const { service, payments } = this.#options;
    if (payments.get(id) === undefined) throw notFound('payment', id);
    return controlAnswer(200, viewDelivery(await service.setStatus(id, status)));
  }

  #resendPayment(call: ControlCall, id: string): Promise<PlainAnswer> {
    if (this.#options.payments.get(id) === undefined) throw notFound('payment', id);
    return this.#resend(call, id);
  }

  #resendDelivery(call: ControlCall, id: string): Promise<PlainAnswer> {
    if (this.#options.dispatcher.get(id) === undefined) throw notFound('delivery', id);
    return this.#resend(call, id);
  }

  async #resend(call: ControlCall, id: string): Promise<PlainAnswer> {
    const { fault, edit } = bodies.readBody(bodies.resending, call);
    if (edit === undefined) {
      const options = { fault: fault as CallbackFault | undefined };
      return controlAnswer(200, viewDelivery(await this.#options.service.resend(id, options)));
    }
    if (fault !== undefined) {
      throw new ControlFailure('INVALID_REQUEST', 'The body must contain fault or edit, not both', {
        option: 'edit',
      });
    }
    const { dispatcher, payments, service } = this.#options;
    const payment = dispatcher.get(id)?.payment ?? payments.require(id);
    const delivery = await dispatcher.send({ payment, url: service.callbackUrl, edit });
    return controlAnswer(200, viewDelivery(delivery));
  }

  #listAttempts({ query }: ControlCall): PlainAnswer {
    const wanted = query.get('referenceNumber');
    const attempts = this.#options.service.deliveries.filter(
      ({ referenceNumber }) => wanted === null || wanted === referenceNumber,
    );
    const newest = this.#takeFitting(attempts.slice(-readLimit(query)).reverse(), sizeOfAttempt);
    return controlAnswer(200, { attempts: newest.map(viewAttempt), total: attempts.length });
  }

  #listRequests({ query }: ControlCall): PlainAnswer {
    const { requests } = this.#options.service;
    const newest = this.#takeFitting(requests.slice(-readLimit(query)).reverse(), sizeOfRequest);
    return controlAnswer(200, { requests: newest.map(viewRequest), total: requests.length });
  }

  async #advanceClock(call: ControlCall): Promise<PlainAnswer> {
    const { ms } = bodies.readBody(bodies.advance, call);
    const { clock } = this.#options.settings;
    if (!isAdvanceable(clock)) {
      throw new ControlFailure(
        'CONFLICT',
        "The clock of this service can't be moved: the one that was passed as an option has no advance()",
      );
    }
    if (this.#isAdvancing) {
      throw new ControlFailure('CONFLICT', 'The clock is already being advanced; try again later');
    }
    this.#isAdvancing = true;
    try {
      // Only when an attempt has ended is its retry scheduled.
      await this.#options.dispatcher.settled();
      await clock.advance(ms);
    } finally {
      this.#isAdvancing = false;
    }
    this.#options.feed.emit({ type: 'clock' });
    return controlAnswer(200, this.#state());
  }

  #reset(call: ControlCall): PlainAnswer {
    bodies.readBody(bodies.noFields, call);
    this.#options.service.reset();
    return controlAnswer(200, this.#state());
  }

  /** Returns as many as fit into an answer, but at least one. A caller who needs more asks for one payment at a time. */
  #takeFitting<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Item[] {
    let bytes = 0;
    return items.filter((item, index) => {
      bytes += sizeOf(item);
      return index === 0 || bytes <= this.#options.limits.answerBytes;
    });
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
        const { id, referenceNumber, status, state, payment } = event.delivery;
        const { merchantPaymentReference } = payment;
        return {
          type: 'delivery',
          delivery: { id, referenceNumber, merchantPaymentReference, status, state },
        };
      }
      case 'faults':
        return { type: 'faults', ...viewFaults(this.#options.faults) };
      case 'limit':
        return { type: 'limit', kind: event.kind, message: event.message };
      case 'reset':
        return { type: 'reset', state: this.#state() };
      default:
        return { type: 'state', state: this.#state() };
    }
  }
}

/** Not cached: another program may listen here later. */
export function redirectToPage(): PlainAnswer {
  const headers = { location: '/_mock/', 'cache-control': 'no-store' };
  return { status: 308, headers, body: '' };
}
