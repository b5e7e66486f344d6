import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Agent as Agent7, type Dispatcher } from 'undici';
import {
  Agent as Agent6,
  MockAgent as MockAgent6,
  Pool as Pool6,
  ProxyAgent as ProxyAgent6,
  RetryAgent as RetryAgent6,
} from 'undici-6';
import { describe, expect, it, onTestFinished } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import { createClient, created, failureOf, order, startRawServer } from '../raw-server.js';

const made = <Made extends { destroy(): unknown }>(dispatcher: Made): Dispatcher => {
  onTestFinished(() => void dispatcher.destroy());
  return dispatcher as unknown as Dispatcher;
};

const others: readonly { name: string; make: (url: string) => Dispatcher }[] = [
  { name: 'an Agent', make: () => made(new Agent6()) },
  { name: 'a Pool', make: (url) => made(new Pool6(url)) },
  { name: 'a ProxyAgent', make: (url) => made(new ProxyAgent6(url)) },
  { name: 'a RetryAgent', make: () => made(new RetryAgent6(new Agent6() as never)) },
  { name: 'a composed Agent', make: () => made(new Agent6().compose((dispatch) => dispatch)) },
  { name: 'a MockAgent', make: createMockAgent6 },
];

function createMockAgent6(url: string): Dispatcher {
  const agent = new MockAgent6();
  agent.get(url).intercept({ path: '/api/payments', method: 'POST' }).reply(201, '{}');
  onTestFinished(() => agent.close());
  return agent as unknown as Dispatcher;
}

describe.each(others)('$name of undici 6 as dispatcher', ({ make }) => {
  it('is an invalid option: nothing is sent, and nothing is tried again', async () => {
    const server = await startRawServer({ answer: () => created });
    const attempts: object[] = [];
    const keep = (fields: object) => void attempts.push(fields);
    const logger = { debug: keep, info: keep, warn: keep, error: keep };
    const client = createClient(server.url, { dispatcher: make(server.url), logger });
    const error = await failureOf(client.payments.create(order));
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      option: 'dispatcher',
      requestOutcome: 'not-sent',
      safeToRetry: false,
    });
    expect(error.message).toContain('dispatcher must be of undici 7');
    expect(attempts).toHaveLength(1);
    expect(server.connections).toHaveLength(0);
  });
});

// The first undici of a process sets the dispatcher of fetch, and here that is the package's.
const NODES_OWN = `
  await fetch(process.argv[1]);
  const dispatcher = globalThis[Symbol.for('undici.globalDispatcher.1')];
  const { PaymentClient } = await import(process.env.TEST_PROGRAMS + '/package.js');
  const baseUrl = process.argv[1];
  const client = new PaymentClient({ baseUrl, apiKey: 'k', apiSecret: 's', dispatcher });
  const error = await client.payments.create(${JSON.stringify(order)}).catch((error) => error);
  console.log(JSON.stringify(error));
  process.exit();
`;

// Node 20 and 22 carry undici 6, Node 24 carries 7.
it.runIf(process.versions['undici']?.startsWith('6.'))(
  "the dispatcher of Node's own fetch is an invalid option where it is of undici 6",
  async () => {
    const server = await startRawServer({ answer: () => created });
    const args = ['--input-type=module', '--eval', NODES_OWN, server.url];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'INVALID_OPTION',
      option: 'dispatcher',
      requestOutcome: 'not-sent',
    });
    expect(server.requests).toHaveLength(1);
  },
);

it('an interceptor that calls handlers as undici 6 did is an invalid option too', async () => {
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
  const error = await failureOf(createClient(server.url, { dispatcher }).payments.create(order));
  expect(error).toMatchObject({ code: 'INVALID_OPTION', requestOutcome: 'not-sent' });
  expect(server.requests).toHaveLength(0);
});
