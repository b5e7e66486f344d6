import { describeIssues } from '../../errors.js';
import { operations } from '../../protocol/operations.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import { parseStrictly } from '../../protocol/strict-schema.js';
import { version } from '../../protocol/version.js';
import type { PlainAnswer, PlainRequest } from '../api/http-messages.js';
import type { CallbackFault, Fault } from '../faults/fault.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServerOptions } from '../options.js';
import type { ServiceInside } from '../service.js';
import { isMatching } from '../state/cap.js';
import type { MockPayment } from '../state/payments.js';
import { callbackGroups, countGroups, groupCallbacks } from './callback-groups.js';
import * as bodies from './control-bodies.js';
import {
  answerCall,
  answerFailures,
  type ControlCall,
  ControlFailure,
  controlAnswer,
  notFound,
  type Route,
  readLimit,
} from './control-call.js';
import type { ControlPaymentDetail, ControlState } from './control-types.js';
import {
  outcomeOf,
  UNLIMITED,
  viewAttempt,
  viewCallback,
  viewDelivery,
  viewEvent,
  viewFaults,
  viewPayment,
  viewRequest,
} from './control-view.js';
import { diagnoseAttempt } from './diagnose.js';
import { EventStreams } from './event-stream.js';
import { answerPaymentPage } from './payment-page.js';
import { rank, textsOfCallback, textsOfPayment, textsOfRequest } from './search.js';

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
      view: (event) => viewEvent(event, { state: () => this.#state(), faults: options.faults }),
    });
    this.#routes = [
      ['GET', '', () => redirectToPage()],
      ['GET', '/', () => this.#options.page()],
      ['GET', '/state', () => controlAnswer(200, this.#state())],
      ['PATCH', '/settings', (call) => this.#changeSettings(call)],
      ['GET', '/payments', (call) => this.#listPayments(call)],
      ['POST', '/payments', (call) => this.#createPayment(call)],
      ['GET', '/payments/:id', (_call, id) => this.#showPayment(this.#findPayment(id))],
      ['POST', '/payments/:id/status', (call, id) => this.#setStatus(call, this.#findPayment(id))],
      ['POST', '/payments/:id/resend', (call, id) => this.#resend(call, this.#findPayment(id))],
      ['GET', '/deliveries', (call) => this.#listAttempts(call)],
      ['POST', '/deliveries/:id/resend', (call, id) => this.#resendDelivery(call, id)],
      ['GET', '/requests', (call) => this.#listRequests(call)],
      ['POST', '/diagnose', (call) => diagnoseAttempt(call, this.#options)],
      ['POST', '/clock/advance', (call) => this.#advanceClock(call)],
      ['POST', '/reset', (call) => this.#reset(call)],
      ['GET', '/events', ({ signal }) => this.#streams.open(signal)],
      ['GET', '/callbacks', (call) => this.#listCallbacks(call)],
      ['GET', '/faults', () => this.#showFaults()],
      ['POST', '/faults', (call) => this.#addFault(call)],
      ['DELETE', '/faults', () => this.#clearFaults()],
      ['DELETE', '/faults/:id', (_call, id) => this.#removeFault(id)],
    ];
  }

  answer(request: PlainRequest): Promise<PlainAnswer> {
    return answerFailures(() =>
      request.pathname.startsWith('/_mock/pay/')
        ? answerPaymentPage(request, this.#options)
        : answerCall(this.#routes, request),
    );
  }

  /** Ends the open event streams. */
  close(): void {
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
      clockRuns: clock.runs,
      paymentPage: settings.paymentPage,
      callbackUrl: service.callbackUrl ?? null,
      signatureEncoding,
      retryScheduleMs,
      counts: {
        payments: this.#options.payments.size,
        requests: service.requests.length,
        deliveries: service.deliveries.length,
        callbacks: countGroups(groupCallbacks(this.#options.dispatcher.list())),
        faults: this.#options.faults.list().length,
        secondPayments: this.#options.payments.seconds,
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
    const order = query.get('merchantPaymentReference');
    const asked = this.#options.payments
      .list()
      .filter(
        ({ merchantPaymentReference, secondOf }) =>
          (order === null || order === merchantPaymentReference) &&
          (query.get('second') !== 'true' || secondOf !== undefined),
      )
      .reverse();
    const { shown, total } = readPage(query, asked, textsOfPayment);
    return controlAnswer(200, { payments: shown.map(viewPayment), total });
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

  #showPayment(payment: MockPayment): PlainAnswer {
    const { referenceNumber, merchantPaymentReference } = payment;
    const { dispatcher, payments, service } = this.#options;
    const isOfOrder = (one: { readonly merchantPaymentReference?: string | undefined }) =>
      one.merchantPaymentReference === merchantPaymentReference;
    const detail: ControlPaymentDetail = {
      payment: viewPayment(payment),
      deliveries: dispatcher
        .list()
        .filter((one) => one.referenceNumber === referenceNumber)
        .map(viewDelivery),
      requests: service.requests.filter(isOfOrder).map(viewRequest),
      others: payments
        .ofOrder(merchantPaymentReference)
        .filter((one) => one.referenceNumber !== referenceNumber)
        .map(({ referenceNumber, status, createdAt }) => ({ referenceNumber, status, createdAt })),
    };
    return controlAnswer(200, detail);
  }

  async #setStatus(call: ControlCall, payment: MockPayment): Promise<PlainAnswer> {
    const { status } = bodies.readBody(bodies.newStatus, call);
    return controlAnswer(200, viewDelivery(await this.#options.service.setStatus(payment, status)));
  }

  #findPayment(id: string): MockPayment {
    const payment = this.#options.payments.get(id);
    if (payment === undefined) throw notFound('payment', id);
    return payment;
  }

  #resendDelivery(call: ControlCall, id: string): Promise<PlainAnswer> {
    const delivery = this.#options.dispatcher.get(id);
    if (delivery === undefined) throw notFound('delivery', id);
    return this.#resend(call, delivery.payment, id);
  }

  /** @param id - of the delivery; without it the callback of the payment's current status is resent */
  async #resend(call: ControlCall, payment: MockPayment, id?: string): Promise<PlainAnswer> {
    const { fault, edit } = bodies.readBody(bodies.resending, call);
    if (edit === undefined) {
      const options = { fault: fault as CallbackFault | undefined };
      return controlAnswer(
        200,
        viewDelivery(await this.#options.service.resend(id ?? payment, options)),
      );
    }
    if (fault !== undefined) {
      throw new ControlFailure('INVALID_REQUEST', 'The body must contain fault or edit, not both', {
        option: 'edit',
      });
    }
    const delivery = await this.#options.dispatcher.send({ payment, edit });
    return controlAnswer(200, viewDelivery(delivery));
  }

  #listAttempts({ query }: ControlCall): PlainAnswer {
    const { service } = this.#options;
    const attempts = service.deliveries.filter((one) => isAsked(query, one));
    const newest = attempts.slice(-readLimit(query)).reverse();
    return controlAnswer(200, { attempts: newest.map(viewAttempt), total: attempts.length });
  }

  #listRequests({ query }: ControlCall): PlainAnswer {
    const asked = this.#options.service.requests
      .filter((one) => isAsked(query, { ...one, outcome: outcomeOf(one) }))
      .reverse();
    const { shown, total } = readPage(query, asked, textsOfRequest);
    return controlAnswer(200, { requests: shown.map(viewRequest), total });
  }

  #listCallbacks({ query }: ControlCall): PlainAnswer {
    const groups = groupCallbacks(this.#options.dispatcher.list());
    const wanted = query.get('group');
    const chosen =
      wanted === null ? callbackGroups : [parseStrictly(bodies.group, wanted, 'group')];
    const asked = chosen.flatMap((group) => groups[group].map((one) => ({ ...one, group })));
    const { shown, total } = readPage(query, asked, textsOfCallback);
    const counts = countGroups(groups);
    return controlAnswer(200, { callbacks: shown.map(viewCallback), total, counts });
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

  async #advanceClock(call: ControlCall): Promise<PlainAnswer> {
    const { ms } = bodies.readBody(bodies.advance, call);
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
    return controlAnswer(200, this.#state());
  }

  #reset(call: ControlCall): PlainAnswer {
    bodies.readBody(bodies.noFields, call);
    this.#options.service.reset();
    return controlAnswer(200, this.#state());
  }
}

const FILTERS = ['referenceNumber', 'merchantPaymentReference', 'outcome'] as const;

/** Whether an entry has every value that the query names. */
function isAsked(query: URLSearchParams, entry: object): boolean {
  const asked = FILTERS.map((field) => [field, query.get(field) ?? undefined]);
  return isMatching(Object.fromEntries(asked), entry);
}

/** The part of a list that a call asks for; with a search, what fits better comes first. */
function readPage<Item>(
  query: URLSearchParams,
  asked: readonly Item[],
  textsOf: Parameters<typeof rank<Item>>[2],
): { readonly shown: readonly Item[]; readonly total: number } {
  const found = rank(asked, query.get('search') ?? '', textsOf);
  return { shown: found.slice(0, readLimit(query)), total: found.length };
}

/** Not cached: another program may listen here later. */
export function redirectToPage(): PlainAnswer {
  const headers = { location: '/_mock/', 'cache-control': 'no-store' };
  return { status: 308, headers, body: '' };
}
