import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { PaymentClientOptions } from '../../../src/client/options.js';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { ApiError } from '../../../src/errors.js';
import {
  failureOf,
  httpAnswer,
  type RawRequest,
  refusedPort,
  startRawServer,
  type TransportOptions,
  transports,
  withoutJitter,
} from '../../client/raw-server.js';
import { apiKey, apiSecret, authorization, customer, reference } from '../planted.js';
import type { See, Walk, Walks } from '../watch.js';

const order = { merchantPaymentReference: reference, amount: 2500, currency: 'EUR' };
const extraBody = { note: customer };
const body = JSON.stringify({ ...extraBody, ...order });

/** Each secret as it is removed from what a service says. */
const secretEchoes = [authorization.slice(6), `${apiKey}:${apiSecret}`, apiSecret, apiKey].flatMap(
  (secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64').replaceAll('=', ''),
  ],
);
/** What a server can echo: header, credentials and body, in whole and in part. */
const echoes = [
  authorization,
  `${'.'.repeat(4_080)}${authorization}${body}`,
  ...secretEchoes,
  body,
  `${body.slice(0, -9)}…`,
  JSON.stringify({ said: body }),
  `the note "${customer}" is too long`,
  customer.slice(0, 24),
];
/** Without the body, with which a text is withheld whatever its secrets are. */
const secretEcho = secretEchoes.join(' | ');
const echo = echoes.join(' | ');

/** A logger that is printed as a developer would, with everything that it is given. */
export function createLogger(see: See): NonNullable<PaymentClientOptions['logger']> {
  const level = (name: 'debug' | 'info' | 'warn' | 'error') => {
    const exception = name === 'warn' || name === 'error' ? 'a line at warn or error' : undefined;
    const sink = new Writable({
      write(chunk, _encoding, done) {
        see('a printed log line', String(chunk), exception);
        done();
      },
    });
    const inspectOptions = { depth: null, showHidden: true };
    const printing = new Console({ stdout: sink, inspectOptions });
    return (fields: object, text: string) => {
      see(`the ${name} log`, [fields, text], exception);
      printing[name](fields, text);
    };
  };
  return {
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
  };
}

function createClient(see: See, url: string, options: TransportOptions = {}): PaymentClient {
  const client = new PaymentClient({
    baseUrl: url,
    apiKey,
    apiSecret,
    maxRetries: 1,
    logger: createLogger(see),
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

type AnswerTo = (request: RawRequest) => string | undefined;

/** A payment is created, and this is the answer. */
function answered(options: TransportOptions, answer: AnswerTo): Walk {
  return async (see) => {
    withoutJitter();
    const server = await startRawServer({ answer });
    const client = createClient(see, server.url, { maxResponseBytes: 200_000, ...options });
    see('the error', await failureOf(client.payments.create(order, { extraBody })));
    see('the client', client);
    if (server.requests[0]?.body !== body) throw new Error('the body was not sent');
  };
}

/** What a service says, in every place that is read. */
function tellingAll(said: string): object {
  const fields = { code: said, message: said, requestId: said, title: said, detail: said };
  const entry = { field: said, path: [said], source: { pointer: said }, message: said };
  return {
    ...fields,
    error: { ...fields, details: [said] },
    errors: [said, entry, { [said]: said }],
  };
}

function headersTelling(said: string): Record<string, string> {
  // Of ASCII, and within what a client takes of headers.
  const text = /^[ -~]{1,1500}$/.test(said) ? said : authorization;
  const secret = encodeURIComponent(apiSecret);
  return {
    'content-type': 'application/json',
    location: `https://elsewhere.example/${secret}?of=${secret}`,
    'x-request-id': text,
    'request-id': text,
  };
}

/** What becomes of a text does not depend on the status. */
const refusals = [301, 400, 401, 429, 500].flatMap((status) =>
  (status === 400 ? echoes : [echo, secretEcho]).flatMap((said) => [
    { said, answer: httpAnswer(status, tellingAll(said), headersTelling(said)) },
    { said, answer: httpAnswer(status, {}, headersTelling(said)) },
  ]),
);

function answers(options: TransportOptions): Record<string, Walk> {
  return {
    'a refusal with an echo in every field, and in headers alone': async (see) => {
      withoutJitter();
      const server = await startRawServer({ answer: (_, index) => refusals[index]?.answer });
      const client = createClient(see, server.url, { ...options, maxRetries: 0 });
      for (const { said } of refusals) {
        const error = await failureOf(client.payments.create(order, { extraBody }));
        see(`the error after ${said}`, error);
        if (!(error instanceof ApiError)) throw new Error('no answer was told of');
        see(`the response after ${said}`, error.response, 'the answer of the service');
      }
    },
    '500 with an HTML page': answered(options, () => httpAnswer(500, `<pre>${echo}</pre>`)),
    'a reset': answered(options, ({ socket }) => void socket.resetAndDestroy()),
    'a 2xx that is cut': answered(
      options,
      ({ socket }) => void socket.end(`HTTP/1.1 201 OK\r\ncontent-length: 99999\r\n\r\n${echo}`),
    ),
    'a 2xx that is too large': answered(options, () => httpAnswer(201, echo.repeat(50))),
    'a 2xx with an echo': async (see) => {
      const said = { echo: [authorization, apiSecret, apiKey, body], requestId: secretEcho };
      const server = await startRawServer({ answer: () => httpAnswer(201, said) });
      const client = createClient(see, server.url, options);
      const created = await client.payments.create(order, { extraBody });
      see('the result', created, 'the answer of the service');
      const request = { method: 'POST', path: `/x?of=${customer}`, body: extraBody };
      see('the response', await client.request(request), 'the answer of the service');
    },
    'no connection, a deadline, an abort, and after close()': async (see) => {
      const server = await startRawServer({});
      const client = createClient(see, server.url, options);
      const refused = createClient(see, `http://127.0.0.1:${await refusedPort()}`, options);
      const reason = new Error(`${customer} was cancelled with ${apiSecret}`);
      const create = client.payments.create;
      see('refused', await failureOf(refused.payments.create(order, { extraBody })));
      see('late', await failureOf(create(order, { extraBody, timeoutMs: 50 })));
      see('aborted', await failureOf(create(order, { signal: AbortSignal.abort(reason) })));
      await client.close();
      see('closed', await failureOf(create(order)));
    },
  };
}

const rejections: readonly unknown[] = [
  echo,
  ...echoes.map((said) => Object.assign(new Error(said), { code: 'EPIPE' })),
  Object.assign(new Error('m'), { code: apiSecret }),
  Object.assign(new Error('m'), { name: echo, code: 'E', request: { headers: echo } }),
  new TypeError(secretEcho, { cause: new Error(secretEcho) }),
  new AggregateError([new Error(echo)], echo),
];

async function rejectingFetch(see: See): Promise<void> {
  let rejection: unknown;
  const client = createClient(see, 'https://payments.invalid', {
    fetch: () => Promise.reject(rejection),
    maxRetries: 0,
  });
  for (rejection of rejections) {
    const error = await failureOf(client.payments.create(order, { extraBody }));
    see(`the error after ${rejection}`, error);
  }
}

async function wrongRequests(see: See): Promise<void> {
  const client = createClient(see, 'https://payments.invalid');
  const wrong = <Value>(value: unknown) => value as Value;
  const calls = {
    currency: client.payments.create({ ...order, currency: customer }),
    amount: client.payments.create({ ...order, amount: wrong(apiSecret) }),
    'a field too many': client.payments.create(wrong({ ...order, note: customer })),
    'no JSON': client.payments.create(order, { extraBody: { nested: [Number.NaN, customer] } }),
    timeoutMs: client.payments.create(order, { timeoutMs: wrong(apiSecret) }),
    'the input': client.payments.create(wrong(customer)),
    method: client.request({ method: apiSecret, path: '/x' }),
    path: client.request({ method: 'GET', path: apiSecret }),
    'a request that is text': client.request(wrong(apiSecret)),
  };
  for (const [what, call] of Object.entries(calls)) {
    see(`the error for ${what}`, await failureOf(call));
  }
  await wrongFunctions(see);
}

/** Functions for the credentials that fail, or give something else. */
async function wrongFunctions(see: See): Promise<void> {
  const good = { baseUrl: 'https://payments.invalid', apiKey, apiSecret, timeoutMs: 20 };
  const functions: readonly (() => string | Promise<string>)[] = [
    () => JSON.parse(apiSecret),
    () => Promise.reject(new Error(apiSecret)),
    () => `${apiSecret}\n`,
    () => new Promise<string>(() => {}),
  ];
  for (const give of functions) {
    const client = new PaymentClient({ ...good, apiSecret: give });
    see(`the error for ${give}`, await failureOf(client.payments.create(order)));
    see(`a client with ${give}`, client);
    await client.close();
  }
}

async function wrongOptions(see: See): Promise<void> {
  const good = { baseUrl: 'https://payments.example', apiKey, apiSecret };
  const given: Record<string, unknown>[] = [
    { apiSecret: `${apiSecret}\n` },
    { apiSecret: [apiSecret] },
    { apiKey: `${apiKey}:${apiSecret}` },
    { headers: { 'x-token': `${apiSecret}\n` } },
    { baseUrl: `https://user:${encodeURIComponent(apiSecret)}@payments.example` },
    { baseUrl: `https://payments.example?secret=${encodeURIComponent(apiSecret)}` },
    { baseUrl: apiSecret },
    { timeoutMs: apiSecret },
    { logger: apiSecret },
    { dispatcher: { secret: apiSecret } },
    { fetch: apiSecret },
  ];
  for (const options of given) {
    const error = await failureOf(
      Promise.resolve().then(() => new PaymentClient({ ...good, ...options })),
    );
    see(`the error for ${Object.keys(options).join()}`, error);
  }
}

async function printing(see: See): Promise<void> {
  const server = await startRawServer({ answer: () => httpAnswer(204) });
  const client = createClient(see, server.url);
  see('the class', PaymentClient);
  see('a new client', client);
  see('a call under way', client.payments.create(order, { extraBody }));
  await client.request({ method: 'GET', path: '/x' });
  see('a client that was used', client);
  await client.close();
  see('a client that was closed', client);
}

export const clientWalks: Walks = {
  '. PaymentClient': {
    'when it is printed': printing,
    ...Object.fromEntries(
      transports.flatMap(({ name, options }) =>
        Object.entries(answers(options)).map(([what, walk]) => [
          `with ${name}, after ${what}`,
          walk,
        ]),
      ),
    ),
    'after a fetch that rejects': rejectingFetch,
    'after a request that can not be right': wrongRequests,
    'after options that can not be right': wrongOptions,
  },
};
