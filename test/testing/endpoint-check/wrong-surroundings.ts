import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import express from 'express';
import { RetryLaterError } from '../../../src/errors.js';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import { memoryStore } from '../../../src/store/memory.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import { type Callback, clock, Orders, SECRET, Shop } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** What answers instead of the endpoint. */
const answering = (
  flaw: string,
  [fails, says]: readonly [WrongHandler['fails'][0], RegExp],
  answer: Answering,
  options: Partial<CheckCallbackEndpointOptions> = {},
): WrongHandler => ({
  flaw,
  fails: [fails],
  says,
  options,
  create: () => ({
    orders: new Orders(),
    listener: (request, response) =>
      void request.resume().on('end', () => answer(request, response)),
  }),
});

const page =
  (status: number, body: string, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);

const elsewhere: readonly WrongHandler[] = [
  answering(
    'a framework that adds a slash',
    [
      'valid-accepted',
      /answered 301, a redirect to \/callbacks\/, which .*register \/callbacks\/ itself/,
    ],
    page(301, '', { location: '/callbacks/' }),
  ),
  answering(
    'a login page',
    ['valid-accepted', /a redirect to \/login, which is not followed /],
    page(302, '', { location: '/login?next=/callbacks&token=t0k3n' }),
  ),
  answering(
    'a server that redirects to https',
    ['valid-accepted', /a redirect to https:\/\/shop\.test\/callbacks, .*http to https/],
    page(308, '', { location: 'https://shop.test/callbacks' }),
  ),
  answering(
    'HTTP authentication',
    ['valid-accepted', /Exempt this route from the login/],
    page(401, 'Unauthorized', { 'www-authenticate': 'Basic realm="shop"' }),
  ),
  answering(
    "Django's CSRF protection",
    [
      'valid-accepted',
      /answered 403.* CSRF verification failed\. Request aborted\. .*exempt this route from CSRF/,
    ],
    page(
      403,
      '<html><style>b{}</style><h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p></html>',
    ),
  ),
  answering(
    "Laravel's CSRF protection",
    ['valid-accepted', /answered 419.* Page Expired .*exempt this route from CSRF/],
    page(419, '<title>Page Expired</title>'),
  ),
  answering(
    'Express without the route',
    ['valid-accepted', /answered 404.* Cannot POST \/callbacks .*Check the path/],
    page(404, '<pre>Cannot POST /callbacks</pre>'),
  ),
  answering(
    'Spring with GET alone',
    ['valid-accepted', /answered 405 .*accepts POST/],
    page(405, ''),
  ),
  answering('a form in PHP', ['valid-accepted', /answered 415 .*application\/json/], page(415, '')),
  answering(
    'a proxy without its application',
    ['valid-accepted', /answered 502.* Bad Gateway .*A proxy answered/],
    page(502, 'Bad Gateway'),
  ),
  answering(
    'a rate limit on everybody',
    ['valid-accepted', /answered 429, a rate limit .*Lift the rate limit/],
    page(429, ''),
  ),
  answering(
    'a handler that always fails',
    ['valid-accepted', /answered 500, and 500 to .* Internal Server Error .*its log says why/],
    page(500, 'Internal Server Error'),
  ),
  answering(
    'a shop window for every path',
    ['wrong-secret', /answered 200 to both.* My shop .*correct the path/],
    page(200, '<title>My shop</title>'),
  ),
  answering(
    "die('bad signature') in PHP",
    ['wrong-secret', / bad signature .*http_response_code\(401\)/],
    page(200, 'bad signature'),
  ),
  answering(
    'an exception that ends the connection',
    ['reachable', /did not answer \(ECONNRESET\).*Catch every error of the handler/],
    (request) => void request.socket.destroy(),
  ),
  answering(
    'a branch without an answer',
    ['reachable', /none within 50 ms.*end every request with a status/],
    () => void clock.pause(50),
    { timeoutMs: 50 },
  ),
  answering(
    'another protocol',
    ['reachable', /\(HPE_\w+\).*Check the scheme and the port/],
    (request) => void request.socket.end('220 mail.test ESMTP\r\n'),
  ),
];

/** The process ends: nothing listens any more. */
const exit = ({ socket }: IncomingMessage): void => {
  const { server } = socket as typeof socket & { server: Server };
  server.close();
  server.closeAllConnections();
};

/** A shop that something stands before. */
const fronted = (front: (pass: RequestListener) => RequestListener) => () => {
  const { listener, orders } = new Shop();
  return { orders, listener: front(listener) };
};

const outages: readonly WrongHandler[] = [
  {
    flaw: 'a limit of 12 requests',
    fails: ['available'],
    says: /no longer accepted: the endpoint answered 429, a rate limit .*Lift the rate limit/,
    create: fronted((pass) => {
      let count = 0;
      return (request, response) => {
        count += 1;
        if (count <= 12) pass(request, response);
        else request.resume().on('end', () => response.writeHead(429).end());
      };
    }),
  },
  {
    flaw: 'a firewall that shuts out who signed wrongly five times',
    fails: ['available'],
    says: /the endpoint answered 403.* Blocked .*blocks the sender/,
    create: fronted((pass) => {
      let refused = 0;
      return (request, response) => {
        if (refused >= 5) {
          request.resume().on('end', () => response.writeHead(403).end('Blocked'));
          return;
        }
        response.on('finish', () => {
          if (response.statusCode === 401) refused += 1;
        });
        pass(request, response);
      };
    }),
  },
  {
    flaw: 'a process that ends on JSON that is none',
    fails: ['available'],
    says: /after "malformed-body" .*\(ECONNREFUSED\).*a process that ended/,
    create: () =>
      new (class extends Shop {
        protected override async handle(request: IncomingMessage, response: ServerResponse) {
          const body = await this.read(request);
          if (body?.toString() === 'not json') return exit(request);
          await this.respond(request, response, body);
        }
      })(),
  },
  {
    flaw: 'a process that ends after its answer to a duplicate',
    fails: ['available'],
    says: /after "(duplicate|simultaneous)" .*\(ECONNREFUSED\).*a process that ended/,
    create: () =>
      new (class extends Shop {
        readonly #seen = new Set<string>();
        protected override async handle(request: IncomingMessage, response: ServerResponse) {
          const body = await this.read(request);
          const signature = String(request.headers['x-signature']);
          if (this.#seen.has(signature)) response.on('finish', () => exit(request));
          await this.respond(request, response, body);
          if (response.statusCode === 200) this.#seen.add(signature);
        }
      })(),
  },
  {
    flaw: 'a pool of connections that a failure drains',
    fails: ['available'],
    says: /the endpoint answered 500.*not released/,
    create: () =>
      new (class extends Shop {
        #free = 3;
        protected override isAuthentic(callback: Callback): boolean {
          if (this.#free === 0) throw new Error('timeout exceeded when trying to connect');
          if (super.isAuthentic(callback)) return true;
          this.#free -= 1;
          return false;
        }
      })(),
  },
  {
    flaw: 'slow work before every answer',
    fails: ['acknowledged-in-time'],
    says: /acknowledged after \d+ ms, of 5000 ms allowed; the next: .*leave slow work/,
    create: () =>
      new (class extends Shop {
        protected override async query(): Promise<void> {
          await clock.pause(6_000);
        }
      })(),
  },
];

const afterVerification: readonly WrongHandler[] = [
  {
    flaw: 'express.json() before a handler that looks the order up',
    fails: ['valid-accepted'],
    says: /answered 500, and 503 to the same as text\/plain .*\(RAW_BODY_REQUIRED\): put the handler/,
    create: () => ({
      orders: new Orders(),
      listener: express()
        .use(express.json())
        .use(
          callbackHandler({
            signingSecret: SECRET,
            now: () => clock.now(),
            store: memoryStore(),
            onError: () => undefined,
            onRejected: () => undefined,
            onPayment() {
              throw new RetryLaterError('order not stored yet');
            },
          }),
        ),
    }),
  },
  {
    flaw: 'unknown orders are answered 404',
    fails: ['valid-accepted'],
    says: /answered 404, and 401 to a signature made with another secret .*The signature was accepted.*stored orders/,
    create: () =>
      new (class extends Shop {
        protected override async process(): Promise<number> {
          return 404;
        }
      })(),
  },
  {
    flaw: 'the table is missing',
    fails: ['valid-accepted'],
    says: /answered 500, and 401 to .*The signature was accepted/,
    create: () =>
      new (class extends Shop {
        protected override async process(): Promise<number> {
          throw new Error('relation "orders" does not exist');
        }
      })(),
  },
  {
    flaw: '200 at once, and all the rest afterwards',
    fails: ['wrong-secret'],
    says: /answered 200 to both .*It answers 2xx to everything/,
    create: () =>
      new (class extends Shop {
        protected override answer(response: ServerResponse): void {
          super.answer(response, 200);
        }
      })(),
  },
  {
    flaw: 'whatever is JSON is acted on, and the rest is swallowed',
    fails: ['wrong-secret'],
    says: /answered 200 to both .*verify the signature first/,
    create: () =>
      new (class extends Shop {
        protected override isAuthentic(): boolean {
          return true;
        }
        protected override answer(response: ServerResponse): void {
          super.answer(response, 200);
        }
      })(),
  },
];

const probes: readonly WrongHandler[] = [
  {
    flaw: 'a probe where nothing listens',
    fails: ['valid-effect'],
    says: /countEffects did not answer \(ECONNREFUSED\).*Call countEffects for a made-up payment/,
    create: () => new Shop(),
    options: { countEffects: 'http://127.0.0.1:1/effects' },
  },
  {
    flaw: 'shipping on any status, told by a number alone',
    fails: ['unknown-status-effect'],
    says: /1 effect after check_unknown_status, and 1 effect after paid/,
    create: () => {
      const { listener, orders } = new (class extends Shop {
        protected override perform(payment: Parameters<Orders['count']>[0]): void {
          this.orders.count(payment);
        }
      })();
      const countEffects = (payment: Parameters<Orders['countOf']>[0]) => orders.countOf(payment);
      return { listener, orders, options: { countEffects } };
    },
  },
];

/** What stands around the handler, and how it may end. */
export const surroundings: readonly WrongHandler[] = [
  ...elsewhere,
  ...outages,
  ...afterVerification,
  ...probes,
];
