import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { MockAgent } from 'undici';
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

/** What a server can echo: header and credentials in whole, and the body in part, too. */
const plainEchoes = [
  authorization,
  `${apiKey}:${apiSecret}`,
  body,
  `${'.'.repeat(290)}${authorization}`,
  `${'.'.repeat(4_080)}${authorization}${body}`,
];
const secrets = [authorization.slice(6), `${apiKey}:${apiSecret}`, apiSecret, apiKey];
/** The spellings that are removed from what a service says. */
const spelledSecrets = secrets.flatMap((secret) => {
  const base64 = Buffer.from(secret).toString('base64');
  return [secret, encodeURIComponent(secret), base64, base64.replaceAll('=', '')];
});
const secretEchoes = [authorization, `${apiKey}:${apiSecret}`, ...spelledSecrets];
const bodyEchoes = [
  `${body.slice(0, -9)}…`,
  JSON.stringify({ said: body }),
  JSON.stringify(JSON.parse(body), null, 2),
  `the note "${customer}" is too long`,
  customer.slice(0, 24),
];
const echoes = [...plainEchoes, ...secretEchoes, ...bodyEchoes];
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

async function seeFailure(see: See, what: string, call: Promise<unknown>): Promise<void> {
  see(what, await failureOf(call));
}

type AnswerTo = (request: RawRequest) => string | undefined;

/** A payment is created, and this is the answer. */
function answered(options: TransportOptions, answer: AnswerTo): Walk {
  return async (see) => {
    withoutJitter();
    const server = await startRawServer({ answer });
    const client = createClient(see, server.url, { maxResponseBytes: 200_000, ...options });
    await seeFailure(see, 'the error', client.payments.create(order, { extraBody }));
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

function answers(options: TransportOptions): Record<string, Walk> {
  const refusals = [301, 400, 401, 422, 429, 500].map((status): [string, Walk] => [
    `${status} with an echo in every field`,
    async (see) => {
      withoutJitter();
      let said = '';
      const answer = () => httpAnswer(status, tellingAll(said), headersTelling(said));
      const server = await startRawServer({ answer });
      const client = createClient(see, server.url, { ...options, maxRetries: 0 });
      // What becomes of a text does not depend on the status.
      for (said of status === 400 ? echoes : plainEchoes) {
        const error = await failureOf(client.payments.create(order, { extraBody }));
        see(`the error after ${said}`, error);
        if (!(error instanceof ApiError)) throw new Error('no answer was told of');
        see(`the response after ${said}`, error.response, 'the answer of the service');
      }
      for (said of plainEchoes) {
        const only = { errors: [{ message: said }] };
        const other = await startRawServer({
          answer: () => httpAnswer(status, only, headersTelling(said)),
        });
        const call = createClient(see, other.url, { ...options, maxRetries: 0 });
        await seeFailure(
          see,
          `the error by the headers after ${said}`,
          call.payments.create(order),
        );
      }
    },
  ]);
  return {
    ...Object.fromEntries(refusals),
    '500 with an HTML page': answered(options, () => httpAnswer(500, `<pre>${echo}</pre>`)),
    'a reset': answered(options, ({ socket }) => void socket.resetAndDestroy()),
    'the request for a status line': answered(options, () => `${echo}\r\n\r\n`),
    'a header without end': answered(
      options,
      () => `HTTP/1.1 200 OK\r\nx: ${echo.replaceAll(/[^ -~]/g, '').repeat(9)}`,
    ),
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
    'a responseSchema that quotes or throws': async (see) => {
      const said = { said: body, [`${apiKey}:${apiSecret}`]: authorization };
      const server = await startRawServer({ answer: () => httpAnswer(201, said) });
      const client = createClient(see, server.url, options);
      const schema = (validate: () => { issues: { message: string; path?: string[] }[] }) =>
        ({ '~standard': { version: 1, vendor: 'test', validate } }) as const;
      const quoting = schema(() => ({
        issues: echoes.map((message) => ({ message, path: [apiSecret, authorization] })),
      }));
      const throwing = schema(() => {
        throw new Error(echo);
      });
      for (const responseSchema of [quoting, throwing]) {
        const call = client.payments.create(order, { extraBody, responseSchema });
        await seeFailure(see, 'the error', call);
      }
    },
    'no connection, a deadline, an abort, and after close()': async (see) => {
      const server = await startRawServer({});
      const client = createClient(see, server.url, options);
      const refused = createClient(see, `http://127.0.0.1:${await refusedPort()}`, options);
      const reason = new Error(`${customer} was cancelled with ${apiSecret}`);
      const create = client.payments.create;
      await seeFailure(see, 'refused', refused.payments.create(order, { extraBody }));
      await seeFailure(see, 'late', create(order, { extraBody, timeoutMs: 50 }));
      await seeFailure(see, 'aborted', create(order, { signal: AbortSignal.abort(reason) }));
      await client.close();
      await seeFailure(see, 'closed', create(order));
    },
  };
}

const rejections: Record<string, unknown> = {
  'a text': echo,
  'an error that quotes': new Error(echo),
  'an error with a code that quotes': Object.assign(new Error(echo), { code: 'EPIPE' }),
  'an error with a code that quotes secrets': Object.assign(new Error(secretEcho), {
    code: 'EPIPE',
  }),
  'an error whose code is the secret': Object.assign(new Error('m'), { code: apiSecret }),
  'an error whose code is the body': Object.assign(new Error('m'), { code: customer }),
  'causes that quote': new TypeError('fetch failed', { cause: new Error(`below: ${echo}`) }),
  'causes that quote secrets': new TypeError(secretEcho, { cause: new Error(secretEcho) }),
  'fields that quote': Object.assign(new Error('m'), { code: 'E', request: { headers: echo } }),
  'errors that quote': new AggregateError([new Error(echo)], echo),
  'an error whose name quotes': Object.assign(new Error('m'), { name: echo }),
  'errors one by one': echoes,
};

async function rejectingFetch(see: See): Promise<void> {
  let rejection: unknown;
  const client = createClient(see, 'https://payments.invalid', {
    fetch: () => Promise.reject(rejection),
    maxRetries: 0,
  });
  for (const [what, reason] of Object.entries(rejections)) {
    const reasons = Array.isArray(reason)
      ? reason.map((said) => Object.assign(new Error(said), { code: 'EPIPE' }))
      : [reason];
    for (rejection of reasons) {
      const call = client.payments.create(order, { extraBody });
      await seeFailure(see, `the error after ${what}`, call);
    }
  }
}

async function refusingMockAgent(see: See): Promise<void> {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher.disableNetConnect();
  const pool = dispatcher.get('https://payments.example');
  for (const unmatched of [{ headers: { authorization: 'other' } }, { body: 'other' }]) {
    pool.intercept({ path: '/api/payments', method: 'POST', ...unmatched }).reply(201);
    const client = createClient(see, 'https://payments.example', { dispatcher, maxRetries: 0 });
    await seeFailure(see, 'the error', client.payments.create(order, { extraBody }));
  }
}

async function wrongRequests(see: See): Promise<void> {
  const client = createClient(see, 'https://payments.invalid');
  const wrong = <Value>(value: unknown) => value as Value;
  const calls = {
    currency: client.payments.create({ ...order, currency: customer }),
    amount: client.payments.create({ ...order, amount: wrong(apiSecret) }),
    'a field too many': client.payments.create(wrong({ ...order, note: customer })),
    'a shadowed field': client.payments.create(order, { extraBody: { amount: customer } }),
    'no JSON': client.payments.create(order, { extraBody: { nested: [Number.NaN, customer] } }),
    'an extraBody that is text': client.payments.create(order, { extraBody: wrong(customer) }),
    timeoutMs: client.payments.create(order, { timeoutMs: wrong(apiSecret) }),
    signal: client.payments.create(order, { signal: wrong(apiSecret) }),
    'the input': client.payments.create(wrong(customer)),
    method: client.request({ method: apiSecret, path: '/x' }),
    path: client.request({ method: 'GET', path: apiSecret }),
    'a body of a GET': client.request({ method: 'GET', path: '/x', body: extraBody }),
    'a request that is text': client.request(wrong(apiSecret)),
  };
  for (const [what, call] of Object.entries(calls)) {
    await seeFailure(see, `the error for ${what}`, call);
  }
  await wrongFunctions(see);
}

/** Functions for the credentials that fail, or give something else. */
async function wrongFunctions(see: See): Promise<void> {
  const good = { baseUrl: 'https://payments.invalid', apiKey, apiSecret, timeoutMs: 20 };
  const functions: Record<string, () => string | Promise<string>> = {
    'a function that quotes the secret': () => JSON.parse(apiSecret),
    'a function that rejects with the secret': () => Promise.reject(new Error(apiSecret)),
    'a function that throws the secret': () => {
      throw apiSecret;
    },
    'a function that gives a broken secret': () => `${apiSecret}\n`,
    'a function that is slow': () => new Promise<string>(() => {}),
  };
  for (const [what, give] of Object.entries(functions)) {
    const client = new PaymentClient({ ...good, apiSecret: give });
    await seeFailure(see, `the error for ${what}`, client.payments.create(order));
    see(`a client with ${what}`, client);
    await client.close();
  }
}

function wrongOptions(see: See): void {
  const good = { baseUrl: 'https://payments.example', apiKey, apiSecret };
  const given: Record<string, unknown>[] = [
    { apiSecret: `${apiSecret}\n` },
    { apiSecret: `${apiSecret}\u0000.` },
    { apiSecret: `${apiSecret}\ud800` },
    { apiSecret: [apiSecret] },
    { apiSecret: Buffer.from(apiSecret) },
    { apiKey: `${apiKey}:${apiSecret}` },
    { apiKey: ` ${apiKey}` },
    { headers: { 'x-token': `${apiSecret}\n` } },
    { headers: { [`${apiSecret} `]: 'a' } },
    { headers: [apiSecret] },
    { idempotency: apiSecret },
    { idempotency: [apiSecret] },
    { idempotency: { header: `${apiSecret} ` } },
    { idempotency: { header: [apiSecret] } },
    { idempotency: { [apiSecret]: apiSecret } },
    { baseUrl: `https://user:${encodeURIComponent(apiSecret)}@payments.example` },
    { baseUrl: `https://payments.example?secret=${encodeURIComponent(apiSecret)}` },
    { baseUrl: `https://payments.example#${encodeURIComponent(apiSecret)}` },
    { baseUrl: `ftp://payments.example/${encodeURIComponent(apiSecret)}` },
    { baseUrl: apiSecret },
    { timeoutMs: apiSecret },
    { maxRetries: apiSecret },
    { maxResponseBytes: apiSecret },
    { dangerouslyAllowHttp: apiSecret },
    { logger: apiSecret },
    { dispatcher: { secret: apiSecret } },
    { fetch: apiSecret },
  ];
  for (const options of given) {
    const name = Object.keys(options).join();
    see(
      `the error for ${name}`,
      thrownBy(() => new PaymentClient({ ...good, ...options })),
    );
    see(
      `the error of fromEnv for ${name}`,
      thrownBy(() =>
        PaymentClient.fromEnv(options, {
          MERCHANT_PAYMENTS_BASE_URL: good.baseUrl,
          MERCHANT_PAYMENTS_API_KEY: apiKey,
          MERCHANT_PAYMENTS_API_SECRET: apiSecret,
        }),
      ),
    );
  }
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure, but it succeeded');
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
    "after a MockAgent's refusal, which quotes headers and body": refusingMockAgent,
    'after a request that can not be right': wrongRequests,
    'after options that can not be right': wrongOptions,
  },
};
