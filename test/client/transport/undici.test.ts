import { Agent, interceptors, MockAgent, RetryAgent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import {
  authorization,
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  record,
  startRawServer,
} from '../raw-server.js';

const agent = (): Agent => {
  const made = new Agent();
  onTestFinished(() => made.destroy());
  return made;
};

it('a MockAgent works as dispatcher', async () => {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher.disableNetConnect();
  dispatcher
    .get('https://payments.example')
    .intercept({ path: '/v2/api/payments', method: 'POST', headers: { authorization } })
    .reply(201, record, { headers: { 'content-type': 'application/json' } });
  const client = createClient('https://payments.example/v2', { dispatcher });
  const { payment, response } = await client.payments.create(order);
  expect(payment).toEqual(record);
  expect(response.attempts).toBe(1);
  dispatcher.assertNoPendingInterceptors();
});

it('a MockAgent that replies with an error is a failure with an outcome', async () => {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher
    .get('https://payments.example')
    .intercept({ path: '/api/payments', method: 'POST' })
    .reply(401, { code: 'INVALID_CREDENTIALS', message: 'Invalid credentials.' });
  const client = createClient('https://payments.example', { dispatcher });
  expect(await failureOf(client.payments.create(order))).toMatchObject({
    code: 'INVALID_CREDENTIALS',
    requestOutcome: 'rejected',
  });
});

it.each([
  ['a 503', () => httpAnswer(503, '', { 'retry-after': '0' })],
  [
    'a reset',
    ({ socket }: { socket: { resetAndDestroy(): unknown } }) => void socket.resetAndDestroy(),
  ],
])('a RetryAgent as dispatcher cannot send a payment again after %s', async (_what, answer) => {
  const server = await startRawServer({ answer });
  const dispatcher = new RetryAgent(agent(), {
    methods: ['POST'],
    minTimeout: 1,
    maxRetries: 2,
    retryAfter: false,
  });
  const client = createClient(server.url, { dispatcher });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ requestOutcome: 'unknown' });
  await createBarrier(dispatcher, server);
  expect(server.requests.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
});

it('a dispatcher that follows redirects cannot carry the request elsewhere', async () => {
  const target = await startRawServer({ answer: () => created });
  const server = await startRawServer({
    answer: () => httpAnswer(307, '', { location: `${target.url}/api/payments` }),
  });
  const dispatcher = agent().compose(interceptors.redirect({ maxRedirections: 3 }));
  const error = await failureOf(createClient(server.url, { dispatcher }).payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
  expect(server.requests).toHaveLength(1);
  expect(target.requests).toHaveLength(0);
});

it('what comes after the call was given up changes nothing', async () => {
  type Handler = Parameters<Agent['dispatch']>[1];
  let handler: Handler | undefined;
  const controller = { abort() {}, pause() {}, resume() {} } as unknown as Parameters<
    NonNullable<Handler['onRequestStart']>
  >[0];
  const dispatcher = {
    dispatch(_options: object, given: Handler) {
      handler = given;
      given.onRequestStart?.(controller, {});
      return true;
    },
  } as unknown as Agent;
  const client = createClient('https://payments.invalid', { dispatcher });
  const error = await failureOf(client.payments.create(order, { timeoutMs: 50 }));
  expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
  handler?.onResponseStart?.(controller, 201, {});
  handler?.onResponseData?.(controller, Buffer.from('{}'));
  handler?.onResponseEnd?.(controller, {});
  handler?.onResponseError?.(controller, new Error('late'));
});

/** Another request by the same dispatcher: what was to be sent before it has been sent. */
async function createBarrier(
  dispatcher: RetryAgent,
  server: { url: string; requests: readonly unknown[] },
): Promise<void> {
  const client = createClient(server.url, { dispatcher, maxRetries: 0 });
  await failureOf(client.request({ method: 'GET', path: '/barrier' }));
}
