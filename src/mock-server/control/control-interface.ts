import {
  matching,
  type OptionRules,
  objectOf,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  text,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { version } from '../../protocol/version.js';
import type { PlainAnswer, PlainRequest } from '../api/http-messages.js';
import type { CallbackEdit } from '../callbacks/delivery.js';
import type { CallbackFault, Fault } from '../faults/fault-catalogue.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServerOptions } from '../options.js';
import type { ServiceInside } from '../service.js';
import type { MockPayment } from '../state/payments.js';
import {
  answerCall,
  answerFailures,
  type ControlCall,
  ControlFailure,
  controlAnswer,
  notFound,
  type Route,
} from './control-call.js';
import {
  type ControlPaymentDetail,
  type ControlSettings,
  type ControlState,
  SHOWN,
} from './control-types.js';
import {
  UNLIMITED,
  viewDelivery,
  viewEvent,
  viewFaults,
  viewPayment,
  viewRequest,
} from './control-view.js';
import { EventStreams } from './event-stream.js';
import { answerPaymentPage, isPaymentPage } from './payment-page.js';

interface ControlInterfaceOptions extends ServiceInside {
  readonly service: MockService & { readonly url: string };
  readonly settings: ResolvedServerOptions;
  /** Returns the dashboard. */
  readonly page: () => Promise<PlainAnswer>;
}

/** Whether a path belongs to the control interface, not to the service's own interface. */
export function isControlPath(pathname: string): boolean {
  return pathname === '/_mock' || pathname.startsWith('/_mock/');
}

const aText: Rule<string> = matching('a string', (value: unknown) => typeof value === 'string');

// The bodies of calls. What is unknown here is checked where it is used.
const bodies = {
  none: {},
  settings: {
    callbackUrl: matching<string | null>(
      'an http or https URL, or null for none',
      (value: unknown) => typeof value === 'string' || value === null,
    ),
  },
  status: { status: text },
  resend: {
    fault: (value: unknown) => value,
    edit: optional(
      objectOf({
        body: aText,
        signature: withDefault('new', oneOf('new', 'kept')),
      } satisfies OptionRules<CallbackEdit>),
    ),
  },
  advance: { ms: wholeNumber({ unit: 'milliseconds' }) },
};

/** Lets people and tools control a mock server: JSON below `/_mock/`, and the dashboard's page. */
export class ControlInterface {
  readonly #options: ControlInterfaceOptions;
  readonly #streams: EventStreams;
  #isAdvancing = false;
  readonly #routes: readonly Route[];

  constructor(options: ControlInterfaceOptions) {
    this.#options = options;
    this.#streams = new EventStreams({
      feed: options.feed,
      view: (event) =>
        viewEvent(event, { settings: () => this.#settings(), faults: options.faults }),
    });
    this.#routes = [
      ['GET', '/', () => options.page()],
      ['GET', '/state', () => this.#showState()],
      ['GET', '/events', ({ signal }) => this.#streams.open(signal)],
      ['PATCH', '/settings', (call) => this.#changeSettings(call)],
      ['GET', '/payments/:id', (_call, id) => this.#showPayment(this.#findPayment(id))],
      ['POST', '/payments/:id/status', (call, id) => this.#setStatus(call, this.#findPayment(id))],
      ['POST', '/deliveries/:id/resend', (call, id) => this.#resend(call, id)],
      ['POST', '/faults', (call) => this.#addFault(call)],
      ['DELETE', '/faults', () => this.#clearFaults()],
      ['DELETE', '/faults/:id', (_call, id) => this.#removeFault(id)],
      ['POST', '/clock/advance', (call) => this.#advanceClock(call)],
      ['POST', '/reset', (call) => this.#reset(call)],
    ];
  }

  answer(request: PlainRequest): Promise<PlainAnswer> {
    if (request.pathname === '/_mock') return Promise.resolve(redirectToPage());
    return answerFailures(() =>
      isPaymentPage(request.pathname)
        ? answerPaymentPage(request, this.#options)
        : answerCall(this.#routes, request),
    );
  }

  /** Ends the open event streams. */
  close(): void {
    this.#streams.close();
  }

  #settings(): ControlSettings {
    const { service, settings } = this.#options;
    const { clock } = settings;
    const nowMs = clock.now();
    return {
      url: service.url,
      version,
      now: new Date(nowMs).toISOString(),
      aheadMs: nowMs - Date.now(),
      clockRuns: clock.runs,
      callbackUrl: service.callbackUrl ?? null,
    };
  }

  #showState(): PlainAnswer {
    const { service, payments, dispatcher, faults, caps } = this.#options;
    const [allPayments, deliveries] = [payments.list(), dispatcher.list()];
    const state: ControlState = {
      ...this.#settings(),
      payments: newest(allPayments).map(viewPayment),
      requests: newest(service.requests).map(viewRequest),
      deliveries: newest(deliveries).map(viewDelivery),
      ...viewFaults(faults),
      counts: {
        payments: allPayments.length,
        requests: service.requests.length,
        deliveries: deliveries.length,
        secondPayments: payments.seconds,
      },
      dropped: {
        payments: caps.payments.dropped,
        requests: caps.requests.dropped,
        deliveries: caps.deliveries.dropped,
        callbacks: caps.callbacks.dropped,
      },
    };
    return controlAnswer(200, state);
  }

  #answerSettings(): PlainAnswer {
    return controlAnswer(200, this.#settings());
  }

  #changeSettings({ body }: ControlCall): PlainAnswer {
    const { callbackUrl } = resolveOptions(body, bodies.settings);
    this.#options.service.callbackUrl = callbackUrl ?? undefined;
    return this.#answerSettings();
  }

  #showPayment(payment: MockPayment): PlainAnswer {
    const { referenceNumber, merchantPaymentReference: order } = payment;
    const { dispatcher, payments, service } = this.#options;
    const detail: ControlPaymentDetail = {
      payment: viewPayment(payment),
      deliveries: dispatcher
        .list()
        .filter((one) => one.referenceNumber === referenceNumber)
        .map(viewDelivery),
      requests: service.requests
        .filter((one) => one.merchantPaymentReference === order)
        .map(viewRequest),
      others: payments
        .ofOrder(order)
        .filter((one) => one !== payment)
        .map(viewPayment),
    };
    return controlAnswer(200, detail);
  }

  async #setStatus({ body }: ControlCall, payment: MockPayment): Promise<PlainAnswer> {
    const { status } = resolveOptions(body, bodies.status);
    return controlAnswer(200, viewDelivery(await this.#options.service.setStatus(payment, status)));
  }

  #findPayment(id: string): MockPayment {
    const payment = this.#options.payments.get(id);
    if (payment === undefined) throw notFound('payment', id);
    return payment;
  }

  /** @param id - of a delivery, of an attempt, or of a payment, for the callback of its current status */
  async #resend({ body }: ControlCall, id: string): Promise<PlainAnswer> {
    const { service, dispatcher, payments } = this.#options;
    const found = dispatcher.get(id);
    const payment = found?.payment ?? payments.get(id);
    if (payment === undefined) throw notFound('delivery or payment', id);
    const { fault, edit } = resolveOptions(body, bodies.resend);
    if (fault !== undefined && edit !== undefined) {
      const message = 'The body must contain fault or edit, not both';
      throw new ControlFailure('INVALID_REQUEST', message, { option: 'edit' });
    }
    const delivery =
      edit === undefined
        ? await service.resend(found?.id ?? payment, { fault: fault as CallbackFault | undefined })
        : await dispatcher.send({ payment, edit });
    return controlAnswer(200, viewDelivery(delivery));
  }

  #showFaults(status = 200): PlainAnswer {
    return controlAnswer(status, viewFaults(this.#options.faults));
  }

  #addFault({ body }: ControlCall): PlainAnswer {
    const times = body['times'] === UNLIMITED ? Number.POSITIVE_INFINITY : body['times'];
    this.#options.faults.add({ ...body, times } as Fault);
    return this.#showFaults(201);
  }

  #clearFaults(): PlainAnswer {
    this.#options.faults.clear();
    return this.#showFaults();
  }

  #removeFault(id: string): PlainAnswer {
    if (!this.#options.faults.remove(id)) throw notFound('fault', id);
    return this.#showFaults();
  }

  async #advanceClock({ body }: ControlCall): Promise<PlainAnswer> {
    const { ms } = resolveOptions(body, bodies.advance);
    // Before the wait, which would not end for an endpoint that advances the clock while it handles a callback.
    if (this.#isAdvancing) {
      throw new ControlFailure('CONFLICT', 'The clock is already being advanced; try again later');
    }
    this.#isAdvancing = true;
    try {
      // Only when an attempt has ended is its retry scheduled.
      await this.#options.dispatcher.settled();
      await this.#options.settings.clock.advance(ms);
    } finally {
      this.#isAdvancing = false;
    }
    this.#options.feed.emit({ type: 'clock' });
    return this.#answerSettings();
  }

  #reset({ body }: ControlCall): PlainAnswer {
    resolveOptions(body, bodies.none);
    this.#options.service.reset();
    return this.#answerSettings();
  }
}

const newest = <Entry>(oldestFirst: readonly Entry[]): Entry[] =>
  oldestFirst.slice(-SHOWN).reverse();

/** Not cached: another program may listen here later. */
export function redirectToPage(): PlainAnswer {
  const headers = { location: '/_mock/', 'cache-control': 'no-store' };
  return { status: 308, headers, body: '' };
}
