import { Agent as Agent7, type Dispatcher } from 'undici';
import { Agent as Agent6, MockAgent as MockAgent6, Pool as Pool6 } from 'undici-6';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConnectionError } from '../../../src/errors.js';
import {
  createClient,
  created,
  failureOf,
  noRetries,
  order,
  startRawServer,
} from '../raw-server.js';

const made = <Made extends { destroy(): unknown }>(dispatcher: Made): Dispatcher => {
  onTestFinished(() => void dispatcher.destroy());
  return dispatcher as unknown as Dispatcher;
};

const others: readonly { name: string; make: (url: string) => Dispatcher }[] = [
  { name: 'an Agent', make: () => made(new Agent6()) },
  { name: 'a Pool', make: (url) => made(new Pool6(url)) },
  { name: 'a MockAgent', make: createMockAgent6 },
];

function createMockAgent6(url: string): Dispatcher {
  const agent = new MockAgent6();
  agent.get(url).intercept({ path: '/api/payments', method: 'POST' }).reply(201, '{}');
  onTestFinished(() => agent.close());
  return agent as unknown as Dispatcher;
}

describe.each(others)('$name of undici 6 as dispatcher', ({ make }) => {
  it('sends nothing, and the error says what to install', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, { ...noRetries, dispatcher: make(server.url) });
    const error = await failureOf(client.payments.create(order));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      requestOutcome: 'not-sent',
      safeToRetry: true,
      cause: { code: 'OLD_UNDICI' },
    });
    expect(error.message).toContain('use undici 7 or 8');
    expect(server.connections).toHaveLength(0);
  });
});

it('an interceptor that calls handlers as undici 6 did sends nothing either', async () => {
  const server = await startRawServer({ answer: () => created });
  const old: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onConnect: (abort) => handler.onConnect?.(abort),
      onHeaders: () => true,
      onData: () => true,
      onComplete: () => {},
      onError: (error) => handler.onError?.(error),
    });
  const dispatcher = made(new Agent7().compose(old));
  const client = createClient(server.url, { ...noRetries, dispatcher });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
  expect(server.requests).toHaveLength(0);
});
