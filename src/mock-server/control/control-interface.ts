import type { Writable } from 'node:stream';
import {
  matching,
  type OptionRules,
  objectOf,
  oneOf,
  optional,
  resolveOptions,
  text,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import type { PlainAnswer, PlainRequest } from '../api/http-messages.js';
import type { CallbackEdit } from '../callbacks/delivery.js';
import type { CallbackFault, Fault } from '../faults/fault-catalogue.js';
import type { MockPayment } from '../state/payments.js';
import {
  answerCall,
  ControlFailure,
  controlAnswer,
  type Fields,
  failureAnswer,
  GUARD_HEADERS,
  notFound,
  type Route,
  toFailure,
} from './control-call.js';
import { SHOWN } from './control-types.js';
import {
  type ShownService,
  UNLIMITED,
  viewDelivery,
  viewEvent,
  viewFaults,
  viewPaymentDetail,
  viewSettings,
  viewState,
} from './control-view.js';

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
        body: matching<string>('a string', (value: unknown) => typeof value === 'string'),
        signature: withDefault('new', oneOf('new', 'kept')),
      } satisfies OptionRules<CallbackEdit>),
    ),
  },
  advance: { ms: wholeNumber({ unit: 'milliseconds' }) },
};

interface Pages {
  readonly home: () => PlainAnswer;
  readonly dashboard: () => PlainAnswer;
  readonly payment: (request: PlainRequest, service: ShownService) => Promise<PlainAnswer>;
}

/** Lets people and tools control a mock server: JSON below `/_mock/`, and the dashboard's page. */
export class ControlInterface {
  readonly #service: ShownService;
  readonly #pages: Pages;
  readonly #streams: EventStreams;
  #isAdvancing = false;
  readonly #routes: readonly Route[];

  constructor(service: ShownService, pages: Pages) {
    this.#service = service;
    this.#pages = pages;
    this.#streams = new EventStreams(service);
    this.#routes = [
      ['GET', '/', pages.dashboard],
      ['GET', '/state', () => controlAnswer(viewState(service, SHOWN))],
      ['GET', '/events', () => this.#streams.open()],
      ['PATCH', '/settings', (body) => this.#changeSettings(body)],
      ['GET', '/payments/:id', (_, id) => this.#showPayment(id)],
      ['POST', '/payments/:id/status', (body, id) => this.#setStatus(body, id)],
      ['POST', '/deliveries/:id/resend', (body, id) => this.#resend(body, id)],
      ['POST', '/faults', (body) => this.#addFault(body)],
      ['DELETE', '/faults', () => this.#removeFaults('')],
      ['DELETE', '/faults/:id', (_, id) => this.#removeFaults(id)],
      ['POST', '/clock/advance', (body) => this.#advanceClock(body)],
      ['POST', '/reset', (body) => this.#reset(body)],
    ];
  }

  /** Never rejects: what is thrown is answered. */
  async answer(request: PlainRequest): Promise<PlainAnswer> {
    try {
      if (request.path === '/_mock') return this.#pages.home();
      return await (request.path.startsWith('/_mock/pay/')
        ? this.#pages.payment(request, this.#service)
        : answerCall(this.#routes, request));
    } catch (error) {
      return failureAnswer(toFailure(error));
    }
  }

  close(): void {
    this.#streams.close();
  }

  #answerSettings(): PlainAnswer {
    return controlAnswer(viewSettings(this.#service));
  }

  #changeSettings(body: Fields): PlainAnswer {
    const { callbackUrl } = resolveOptions(body, bodies.settings);
    this.#service.callbackUrl = callbackUrl ?? undefined;
    return this.#answerSettings();
  }

  #findPayment(id: string): MockPayment {
    const payment = this.#service.payments.get(id);
    if (payment === undefined) throw notFound('payment', id);
    return payment;
  }

  #showPayment(id: string): PlainAnswer {
    return controlAnswer(viewPaymentDetail(this.#service, this.#findPayment(id)));
  }

  async #setStatus(body: Fields, id: string): Promise<PlainAnswer> {
    const payment = this.#findPayment(id);
    const { status } = resolveOptions(body, bodies.status);
    return controlAnswer(viewDelivery(await this.#service.setStatus(payment, status)));
  }

  /** @param id - of a delivery, of an attempt, or of a payment, for the callback of its current status */
  async #resend(body: Fields, id: string): Promise<PlainAnswer> {
    const { dispatcher, payments } = this.#service;
    if (dispatcher.get(id) === undefined && payments.get(id) === undefined) {
      throw notFound('delivery or payment', id);
    }
    const { fault, edit } = resolveOptions(body, bodies.resend);
    if (fault !== undefined && edit !== undefined) {
      const message = 'The body must contain fault or edit, not both';
      throw new ControlFailure('INVALID_REQUEST', message, { option: 'edit' });
    }
    const options = { fault: fault as CallbackFault | undefined };
    return controlAnswer(viewDelivery(await this.#service.resend(id, options, edit)));
  }

  #addFault(body: Fields): PlainAnswer {
    const times = body['times'] === UNLIMITED ? Number.POSITIVE_INFINITY : body['times'];
    this.#service.faults.add({ ...body, times } as Fault);
    return controlAnswer(viewFaults(this.#service), 201);
  }

  /** @param id - empty for all */
  #removeFaults(id: string): PlainAnswer {
    const { faults } = this.#service;
    if (id === '') faults.clear();
    else if (!faults.remove(id)) throw notFound('fault', id);
    return controlAnswer(viewFaults(this.#service));
  }

  async #advanceClock(body: Fields): Promise<PlainAnswer> {
    const { ms } = resolveOptions(body, bodies.advance);
    // Before the wait, which would not end for an endpoint that advances the clock while it handles a callback.
    if (this.#isAdvancing) {
      throw new ControlFailure('CONFLICT', 'The clock is already being advanced; try again later');
    }
    this.#isAdvancing = true;
    try {
      // A retry is scheduled only when its attempt has ended.
      await this.#service.dispatcher.settled();
      await this.#service.clock.advance(ms);
    } finally {
      this.#isAdvancing = false;
    }
    this.#service.feed.emit({ type: 'clock' });
    return this.#answerSettings();
  }

  #reset(body: Fields): PlainAnswer {
    resolveOptions(body, bodies.none);
    this.#service.reset();
    return this.#answerSettings();
  }
}

const HEARTBEAT_MS = 15_000;
/** What may be queued for a slow reader. Beyond it the stream ends, and the reader can reconnect. */
const MAX_QUEUED_BYTES = 8_388_608;

class EventStreams {
  readonly #service: ShownService;
  readonly #open = new Set<() => void>();

  constructor(service: ShownService) {
    this.#service = service;
  }

  open(): PlainAnswer {
    const headers = { ...GUARD_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };
    return { status: 200, headers, body: '', follow: (reader) => this.#follow(reader) };
  }

  #follow(reader: Writable): void {
    const send = (text: string) => {
      reader.write(text);
      if (reader.writableLength > MAX_QUEUED_BYTES) end();
    };
    const unsubscribe = this.#service.feed.subscribe((event) => {
      const view = viewEvent(event, this.#service);
      send(`event: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`);
    });
    const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS);
    const end = () => {
      if (!this.#open.delete(end)) return;
      clearInterval(heartbeat);
      unsubscribe();
      reader.end();
    };
    this.#open.add(end);
    reader.once('close', end);
    send(': connected\n\n');
  }

  close(): void {
    for (const end of this.#open) end();
  }
}
