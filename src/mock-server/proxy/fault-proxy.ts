import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { inspect } from 'node:util';
import { InvalidOptionError } from '../../errors.js';
import { JoinedSignal } from '../../protocol/joined-signal.js';
import {
  func,
  type OptionRules,
  optional,
  type Resolved,
  type Rule,
  resolveOptions,
  text,
  timerMs,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { type BaseUrl, baseUrl, httpUrl, isLoopback } from '../../protocol/url.js';
import {
  errorAnswer,
  PAYLOAD_TOO_LARGE,
  type PlainAnswer,
  type PlainRequest,
  parseJson,
} from '../api/http-messages.js';
import { listen, toUrl } from '../api/listen.js';
import { createRequest, sendAnswer, sendFailure } from '../api/node-http.js';
import { answerWithFault } from '../api/request-faults.js';
import { WaitingRequests } from '../api/waiting-requests.js';
import { answerCall, ControlFailure, failureAnswer } from '../control/control-call.js';
import { isControlPath } from '../control/control-interface.js';
import { faultRoutes } from '../control/fault-routes.js';
import { findIntrusion } from '../control/request-guard.js';
import type { Fault } from '../faults/fault.js';
import { type FaultEntry, faultCatalogue } from '../faults/fault-catalogue.js';
import { FaultList, type MockFaults } from '../faults/fault-list.js';
import { createRunningClock } from '../state/clock.js';
import { ForwardFailure, forward } from './forward.js';
import { ProxiedCallbacks } from './proxied-callbacks.js';

/** Options of {@link startFaultProxy}. */
export interface FaultProxyOptions {
  /** Base address of the service: https, or http on this machine. */
  upstream: string | URL;
  /**
   * The merchant's callback endpoint, an http or https URL.
   * @default none: callbacks are not received
   */
  forwardCallbacksTo?: string | URL | undefined;
  /**
   * The port for the merchant's requests, 0 to 65535; 0 picks a free one.
   * @default 0
   */
  port?: number | undefined;
  /**
   * The port for callbacks, 0 to 65535; 0 picks a free one. It is separate, so that the service needs
   * to reach no other.
   * @default 0
   */
  callbackPort?: number | undefined;
  /**
   * The address to listen on.
   * @default '127.0.0.1'
   */
  host?: string | undefined;
  /**
   * How long a complete answer may take, in milliseconds: a whole number from 1 to 2147483647.
   * @default 30_000
   */
  timeoutMs?: number | undefined;
  /** Called when an exchange has ended. */
  onExchange?: ((exchange: ProxiedExchange) => void) | undefined;
}

/** An exchange that went through a proxy, without headers and bodies. */
export interface ProxiedExchange {
  /** `request`: from the merchant to the service. `callback`: from the service to the merchant. */
  readonly kind: 'request' | 'callback';
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The `merchantPaymentReference` in the body. */
  readonly merchantPaymentReference: string | undefined;
  /** The status it was answered with; `undefined` when the connection was broken. */
  readonly status: number | undefined;
  /** The fault that was applied. */
  readonly fault: Fault['type'] | undefined;
  /** Why the other side did not answer. */
  readonly failure: string | undefined;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** A proxy in front of a real service, with the faults of the mock. */
export interface FaultProxy extends AsyncDisposable {
  /** The base address for the merchant's client. */
  readonly url: string;
  /** The callback URL for the service; `undefined` without `forwardCallbacksTo`. */
  readonly callbackUrl: string | undefined;
  /**
   * The pending faults. `add` refuses faults on callbacks that need the signing secret: a proxy can do
   * `duplicate`, `reorder`, `drop` and `late-callback`.
   */
  readonly faults: MockFaults;
  /** Closes the ports and breaks every open connection. Can be called more than once. */
  close(): Promise<void>;
}

const upstream: Rule<BaseUrl> = (value, option) => {
  const url = baseUrl(value, option);
  const { protocol, hostname } = new URL(url.origin);
  if (protocol === 'https:' || isLoopback(hostname)) return url;
  throw new InvalidOptionError(
    option,
    `${option} must be an https: URL, since http: to another machine would send the API secret in clear text`,
  );
};

const port = withDefault(0, wholeNumber({ max: 65_535 }));
const proxyRules = {
  upstream,
  forwardCallbacksTo: optional(httpUrl),
  port,
  callbackPort: port,
  host: withDefault('127.0.0.1', text),
  timeoutMs: withDefault(30_000, timerMs()),
  onExchange: optional(
    func<NonNullable<FaultProxyOptions['onExchange']>>('that is called with each exchange'),
  ),
} satisfies OptionRules<FaultProxyOptions>;

/**
 * Starts a proxy on this machine in front of a real service, such as a sandbox. Requests and callbacks
 * pass through it byte for byte, except for the faults that you add. It also answers `/_mock/faults`, as
 * the mock does. It neither keeps nor logs credentials.
 *
 * @throws {InvalidOptionError} when an option is invalid
 * @throws {MockServerError} `PORT_IN_USE` or `LISTEN_FAILED` when it can't listen
 *
 * @example
 * ```ts
 * import { startFaultProxy } from 'merchant-payments/mock-server';
 *
 * await using proxy = await startFaultProxy({ upstream: 'https://sandbox.example' });
 * proxy.faults.add({ on: 'request', type: 'lost-answer' });
 * // … a client with baseUrl: proxy.url
 * ```
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new ListeningProxy(resolveOptions(options, proxyRules, { holds: 'upstream' }));
  try {
    await proxy.listen();
  } catch (error) {
    await proxy.close();
    throw error;
  }
  return proxy;
}

/** Refuses the faults that a proxy can't do. */
class TransitFaults extends FaultList {
  override add(fault: Fault): void {
    const entry: FaultEntry | undefined = faultCatalogue[fault?.type];
    if (entry?.on === 'callback' && entry.isInTransit !== true) {
      throw new InvalidOptionError(
        'fault.type',
        `fault.type ${fault.type} needs the signing secret, which a proxy does not know: use the mock`,
      );
    }
    super.add(fault);
  }
}

/** How a request is answered, and what `onExchange` reports about it. */
interface Handled {
  readonly answer: () => Promise<PlainAnswer>;
  readonly merchantPaymentReference: string | undefined;
  readonly fault: Fault['type'] | undefined;
}

class ListeningProxy implements FaultProxy {
  readonly faults = new TransitFaults(() => undefined);
  readonly #options: Resolved<typeof proxyRules>;
  readonly #waiting = new WaitingRequests(createRunningClock());
  readonly #callbacks = new ProxiedCallbacks(this.#waiting);
  readonly #closing = new AbortController();
  readonly #api = createServer((incoming, outgoing) => this.#handle('request', incoming, outgoing));
  readonly #endpoint = createServer((incoming, outgoing) =>
    this.#handle('callback', incoming, outgoing),
  );

  constructor(options: Resolved<typeof proxyRules>) {
    this.#options = options;
  }

  get url(): string {
    return toUrl(this.#api.address() as AddressInfo);
  }
  get callbackUrl(): string | undefined {
    const target = this.#options.forwardCallbacksTo;
    if (target === undefined) return undefined;
    return `${toUrl(this.#endpoint.address() as AddressInfo)}${target.pathname}`;
  }

  async listen(): Promise<void> {
    const { host, port, callbackPort, forwardCallbacksTo } = this.#options;
    await listen(this.#api, { host, port });
    if (forwardCallbacksTo) await listen(this.#endpoint, { host, port: callbackPort });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.cutOff('The proxy was closed');
    await Promise.all(
      [this.#api, this.#endpoint].map((server) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        return closed;
      }),
    );
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): Record<string, unknown> {
    return { url: this.url };
  }
  [inspect.custom](): string {
    return `FaultProxy ${inspect(this.toJSON())}`;
  }

  async #handle(
    kind: ProxiedExchange['kind'],
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const request = createRequest(incoming, outgoing, 'http://proxy.invalid');
    const target = incoming.url ?? '';
    // The raw target, not a URL made from it: there, //host would be another host.
    if (request === undefined || !target.startsWith('/')) {
      outgoing.writeHead(400).end();
      return;
    }
    const [path = ''] = target.split('?', 1);
    try {
      const answer =
        kind === 'request' && isControlPath(path)
          ? await this.#control(request, path, incoming)
          : await this.#pass(kind, request, { target, path });
      await sendAnswer(answer, outgoing);
    } catch (error) {
      await sendFailure(error, outgoing);
    }
  }

  #control(request: PlainRequest, path: string, { headers }: IncomingMessage) {
    const { host } = this.#options;
    const { address } = this.#api.address() as AddressInfo;
    const { method } = request;
    const intrusion = findIntrusion({ method, path, headers, listens: { host, address } });
    if (intrusion !== undefined) return failureAnswer(new ControlFailure('FORBIDDEN', intrusion));
    return answerCall(faultRoutes(this.faults), request);
  }

  /** @throws {ConnectionLoss} when a fault breaks the connection */
  async #pass(
    kind: ProxiedExchange['kind'],
    request: PlainRequest,
    { target, path }: { readonly target: string; readonly path: string },
  ): Promise<PlainAnswer> {
    const startedMs = performance.now();
    const { method } = request;
    const requestId = crypto.randomUUID();
    const body = await request.readBody();
    if (body === undefined) return errorAnswer(requestId, PAYLOAD_TOO_LARGE);
    let failure: string | undefined;
    const send = () =>
      this.#forward(kind, request, target, body).catch((error: unknown) => {
        failure = error instanceof ForwardFailure ? error.message : String(error);
        return errorAnswer(requestId, { status: 502, code: 'PROXY_FAILED', message: failure });
      });
    const { answer, ...known } =
      kind === 'request'
        ? this.#passRequest(request, { requestId, path, body, send })
        : this.#passCallback(request, body, send);
    let status: number | undefined;
    try {
      const answered = await answer();
      status = answered.status;
      return answered;
    } finally {
      const durationMs = performance.now() - startedMs;
      this.#options.onExchange?.({ kind, method, path, status, failure, durationMs, ...known });
    }
  }

  #passRequest(request: PlainRequest, { requestId, path, body, send }: RequestToPass): Handled {
    const { merchantPaymentReference: reference } = (parseJson(Buffer.from(body).toString()) ??
      {}) as Record<string, unknown>;
    const merchantPaymentReference = typeof reference === 'string' ? reference : undefined;
    const fault = this.faults.takeForRequest({
      method: request.method,
      path,
      merchantPaymentReference,
    });
    const waiting = this.#waiting;
    return {
      answer: () => answerWithFault(fault, { requestId, request, waiting, answer: send }),
      merchantPaymentReference,
      fault: fault?.type,
    };
  }

  #passCallback(
    request: PlainRequest,
    body: Uint8Array,
    send: () => Promise<PlainAnswer>,
  ): Handled {
    const facts = this.#callbacks.toFacts(body);
    const fault = this.faults.takeForCallback(facts, true);
    return {
      answer: async () => {
        using left = new JoinedSignal([request.signal, this.#closing.signal]);
        return await this.#callbacks.send(fault, facts, { signal: left.signal, send });
      },
      merchantPaymentReference: facts.merchantPaymentReference,
      fault: fault?.type,
    };
  }

  // Goes on when the client disconnects: without a proxy, the service might do so too.
  #forward(
    kind: ProxiedExchange['kind'],
    { method, headers }: PlainRequest,
    target: string,
    body: Uint8Array,
  ): Promise<PlainAnswer> {
    const { upstream: service, forwardCallbacksTo, timeoutMs } = this.#options;
    const message = { method, headers, body, signal: this.#closing.signal, timeoutMs };
    if (kind === 'request' || forwardCallbacksTo === undefined) {
      return forward({ ...message, origin: service.origin, path: service.pathPrefix + target });
    }
    const { origin, pathname, search } = forwardCallbacksTo;
    return forward({ ...message, origin, path: pathname + search });
  }
}

interface RequestToPass {
  readonly requestId: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly send: () => Promise<PlainAnswer>;
}
