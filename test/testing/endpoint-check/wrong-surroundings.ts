import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import express from 'express';
import { RetryLaterError } from '../../../src/errors.js';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import { memoryStore } from '../../../src/store/memory.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import { changed, clock, Orders, SECRET, Shop } from './shop.js';
import { flawed, type WrongHandler } from './wrong-handler.js';

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

interface AnsweringOptions extends Partial<CheckCallbackEndpointOptions> {
  readonly fails?: WrongHandler['fails'][number];
}

/** What answers instead of the endpoint. */
const answering = (
  flaw: string,
  says: RegExp,
  answer: Answering,
  { fails = 'valid-accepted', ...options }: AnsweringOptions = {},
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
    /answered 301, a redirect to \/callbacks\/, which .*register \/callbacks\/ itself/,
    page(301, '', { location: '/callbacks/' }),
  ),
  answering(
    'a login page',
    /a redirect to \/login, which is not followed /,
    page(302, '', { location: '/login?next=/callbacks&token=t0k3n' }),
  ),
  answering(
    'a server that redirects to https',
    /a redirect to https:\/\/shop\.test\/callbacks, .*http to https/,
    page(308, '', { location: 'https://shop.test/callbacks' }),
  ),
  answering(
    'HTTP authentication',
    /Exempt this route from the login/,
    page(401, 'Unauthorized', { 'www-authenticate': 'Basic realm="shop"' }),
  ),
  answering(
    "Django's CSRF protection",
    /answered 403.* CSRF verification failed\. Request aborted\. .*exempt this route from CSRF/,
    page(
      403,
      '<html><style>b{}</style><h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p></html>',
    ),
  ),
  answering(
    "Laravel's CSRF protection",
    /answered 419.* Page Expired .*exempt this route from CSRF/,
    page(419, '<title>Page Expired</title>'),
  ),
  answering(
    'Express without the route',
    /answered 404.* Cannot POST \/callbacks .*Check the path/,
    page(404, '<pre>Cannot POST /callbacks</pre>'),
  ),
  answering('Spring with GET alone', /answered 405 .*accepts POST/, page(405, '')),
  answering('a form in PHP', /answered 415 .*application\/json/, page(415, '')),
  answering(
    'a proxy without its application',
    /answered 502.* Bad Gateway .*A proxy answered/,
    page(502, 'Bad Gateway'),
  ),
  answering(
    'a rate limit on everybody',
    /answered 429, a rate limit .*Lift the rate limit/,
    page(429, ''),
  ),
  answering(
    'a handler that always fails',
    /answered 500, and 500 to .* Internal Server Error .*its log says why/,
    page(500, 'Internal Server Error'),
  ),
  answering(
    'a shop window for every path',
    /answered 200 to both.* My shop .*correct the path/,
    page(200, '<title>My shop</title>'),
    { fails: 'wrong-secret' },
  ),
  answering(
    "die('bad signature') in PHP",
    / bad signature .*http_response_code\(401\)/,
    page(200, 'bad signature'),
    { fails: 'wrong-secret' },
  ),
  answering(
    'an exception that ends the connection',
    /did not answer \(ECONNRESET\).*Catch every error of the handler/,
    (request) => void request.socket.destroy(),
    { fails: 'reachable' },
  ),
  answering(
    'a branch without an answer',
    /none within 50 ms.*end every request with a status/,
    () => void clock.pause(50),
    { fails: 'reachable', timeoutMs: 50 },
  ),
  answering(
    'another protocol',
    /\(HPE_\w+\).*Check the scheme and the port/,
    (request) => void request.socket.end('220 mail.test ESMTP\r\n'),
    { fails: 'reachable' },
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
  flawed(
    'a process that ends on JSON that is none',
    'available',
    (shop) => ({
      async respond(request, response, body) {
        if (body?.toString() === 'not json') return exit(request);
        await shop.respond(request, response, body);
      },
    }),
    /after "malformed-body" .*\(ECONNREFUSED\).*a process that ended/,
  ),
  flawed(
    'a process that ends after its answer to a duplicate',
    'available',
    (shop) => {
      const seen = new Set<string>();
      return {
        async respond(request, response, body) {
          const signature = String(request.headers['x-signature']);
          if (seen.has(signature)) response.on('finish', () => exit(request));
          await shop.respond(request, response, body);
          if (response.statusCode === 200) seen.add(signature);
        },
      };
    },
    /after "(duplicate|simultaneous)" .*\(ECONNREFUSED\).*a process that ended/,
  ),
  flawed(
    'a pool of connections that a failure drains',
    'available',
    (shop) => {
      let free = 3;
      return {
        isAuthentic(callback) {
          if (free === 0) throw new Error('timeout exceeded when trying to connect');
          if (shop.isAuthentic(callback)) return true;
          free -= 1;
          return false;
        },
      };
    },
    /the endpoint answered 500.*not released/,
  ),
  flawed(
    'slow work before every answer',
    'acknowledged-in-time',
    () => ({ query: () => clock.pause(6_000) }),
    /acknowledged after \d+ ms, of 5000 ms allowed; the next: .*leave slow work/,
  ),
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
  flawed(
    'unknown orders are answered 404',
    'valid-accepted',
    () => ({ process: async () => 404 }),
    /answered 404, and 401 to a signature made with another secret .*The signature was accepted.*stored orders/,
  ),
  flawed(
    'the table is missing',
    'valid-accepted',
    () => ({ process: () => Promise.reject(new Error('relation "orders" does not exist')) }),
    /answered 500, and 401 to .*The signature was accepted/,
  ),
  flawed(
    '200 at once, and all the rest afterwards',
    'wrong-secret',
    (shop) => ({ answer: (response) => shop.answer(response, 200) }),
    /answered 200 to both .*It answers 2xx to everything/,
  ),
  flawed(
    'whatever is JSON is acted on, and the rest is swallowed',
    'wrong-secret',
    (shop) => ({
      isAuthentic: () => true,
      answer: (response) => shop.answer(response, 200),
    }),
    /answered 200 to both .*verify the signature first/,
  ),
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
      const { listener, orders } = changed((shop) => ({
        perform: (payment) => shop.orders.count(payment),
      }));
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
