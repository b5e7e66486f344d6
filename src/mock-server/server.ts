import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { PlainAnswer, PlainRequest } from './api/http-messages.js';
import { IncomingRequest, listen, sendAnswer, sendFailure, toUrl } from './api/node-http.js';
import { ControlFailure, failureAnswer } from './control/control-call.js';
import { ControlInterface } from './control/control-interface.js';
import { findIntrusion, isFromBrowser, type ListenAddress } from './control/request-guard.js';
import { answerVisit, dashboardAnswer, redirectToPage } from './dashboard/html-page.js';
import { answerPaymentPage } from './dashboard/payment-page.js';
import type { MockService } from './mock-service.js';
import {
  type MockServerOptions,
  type ResolvedServerOptions,
  resolveServerOptions,
} from './options.js';
import { InProcessService } from './service.js';
import { KEPT } from './state/cap.js';
import { defaultCredential } from './state/seeded-ids.js';
import { StateFile } from './state-file.js';

/** A mock of the Merchant Payment Service that listens on a port. */
export interface MockServer extends MockService {
  /** Its base address, without a slash at the end, for example `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The API key that requests must present. */
  readonly apiKey: string;
  /** The API secret that requests must present. */
  readonly apiSecret: string;
}

/**
 * Starts a mock of the Merchant Payment Service on this machine. It creates payments over HTTP, keeps
 * their state, and sends signed callbacks with retries. Servers share nothing: start one per test.
 *
 * @throws {InvalidOptionError} when an option is invalid, or it can't listen on the host
 * @throws {MockServerError} `PORT_IN_USE` when another process listens on the port
 *
 * @example
 * ```ts
 * import { startMockServer } from 'merchant-payments/mock-server';
 *
 * const server = await startMockServer({ callbackUrl: 'http://127.0.0.1:3000/callbacks' });
 * const authorization = `Basic ${btoa(`${server.apiKey}:${server.apiSecret}`)}`;
 * await fetch(`${server.url}/api/payments`, {
 *   method: 'POST',
 *   headers: { authorization, 'content-type': 'application/json' },
 *   body: JSON.stringify({ merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' }),
 * });
 * const [payment] = server.payments.list();
 * if (payment) await server.setStatus(payment.referenceNumber, 'paid');
 * await server.close();
 * ```
 */
export async function startMockServer(options: MockServerOptions = {}): Promise<MockServer> {
  return startLimitedServer(options, KEPT);
}

/** @internal */
export async function startLimitedServer(
  options: MockServerOptions,
  limit: number,
): Promise<MockServer> {
  const resolved = resolveServerOptions(options);
  const credentials = {
    apiKey: resolved.apiKey ?? defaultCredential(resolved, 'api_key'),
    apiSecret: resolved.apiSecret ?? defaultCredential(resolved, 'api_secret'),
  };
  const file = resolved.stateFile === undefined ? undefined : new StateFile(resolved.stateFile);
  const server = await listen(resolved);
  const listening = { ...resolved, ...credentials };
  return new ListeningService(listening, { server, limit, file }) as MockServer;
}

class ListeningService extends InProcessService {
  readonly url: string;
  readonly #server: Server;
  readonly #listens: ListenAddress;
  readonly #control: ControlInterface;
  readonly #file: StateFile | undefined;
  readonly #stopSaving: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    options: ResolvedServerOptions,
    { server, limit, file }: { server: Server; limit: number; file: StateFile | undefined },
  ) {
    const address = server.address() as AddressInfo;
    const url = toUrl(address);
    super(options.paymentPage ? withPaymentUrl(options, url) : options, limit);
    this.#server = server;
    this.#file = file;
    this.#listens = { host: options.host, address: address.address };
    this.url = url;
    this.#control = new ControlInterface(this, {
      home: redirectToPage,
      dashboard: dashboardAnswer,
      payment: answerPaymentPage,
    });
    if (file !== undefined) {
      if (file.saved !== undefined) this.restore(file.saved);
      this.#stopSaving = this.subscribe(() => file.saveSoon(() => this.save()));
    }
    server.on('request', (request, response) => this.#handle(request, response));
  }

  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  override toJSON(): Record<string, unknown> {
    return { url: this.url };
  }
  override [inspect.custom](): string {
    return `MockServer ${inspect(this.toJSON())}`;
  }

  async #close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#control.close();
    // Before all is forgotten.
    this.#stopSaving?.();
    this.#file?.save(this.save());
    await super.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = new IncomingRequest(incoming, outgoing);
    // Not the whole URL that a proxy would get.
    if (!request.target.startsWith('/')) {
      outgoing.writeHead(400).end();
      return;
    }
    try {
      await sendAnswer(await this.#answer(request), outgoing);
    } catch (error) {
      // A browser itself sends a POST again when a kept connection breaks, and so would create a second payment.
      const isPage = request.path.startsWith(API_PREFIX) && isFromBrowser(request);
      if (isPage && !outgoing.headersSent) outgoing.writeHead(504).end();
      else await sendFailure(error, outgoing);
    }
  }

  #answer(request: PlainRequest): PlainAnswer | Promise<PlainAnswer> {
    const { path } = request;
    const isControl = path === '/_mock' || path.startsWith('/_mock/');
    const page = isControl ? undefined : answerVisit(request);
    if (page !== undefined) return page;
    // The API has credentials, but the command line's defaults are public.
    if (isControl || isFromBrowser(request)) {
      const intrusion = findIntrusion(request, this.#listens);
      if (intrusion !== undefined) return failureAnswer(new ControlFailure('FORBIDDEN', intrusion));
    }
    if (!isControl) return this.answer(request);
    return path.startsWith(API_PREFIX)
      ? this.answer(request, '/_mock')
      : this.#control.answer(request);
  }
}

/** A field of that name that the caller chose wins. */
function withPaymentUrl(options: ResolvedServerOptions, url: string): ResolvedServerOptions {
  const paymentUrl = `${url}/_mock/pay/{referenceNumber}`;
  return { ...options, answerFields: { paymentUrl, ...options.answerFields } };
}

/** The service's API without credentials, for the command line, which does not know them. */
const API_PREFIX = '/_mock/api/';
