import diagnostics from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RequestOutcome } from '../../../src/errors.js';
import {
  connectionsClosed,
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  type RawRequest,
  startRawServer,
  transports,
} from '../raw-server.js';

interface Broken {
  readonly what: string;
  readonly answer: (request: RawRequest) => string | undefined;
  readonly code: string;
  readonly says: string;
}

const broken: readonly Broken[] = [
  {
    what: 'resets the connection after it has read the request',
    answer: ({ socket }) => void socket.resetAndDestroy(),
    code: 'CONNECTION_FAILED',
    says: 'lost its connection before an answer (',
  },
  {
    what: 'closes the connection without an answer',
    answer: ({ socket }) => void socket.end(),
    code: 'CONNECTION_FAILED',
    says: 'lost its connection before an answer (UND_ERR_SOCKET)',
  },
  {
    what: 'answers with garbage for a status line',
    answer: ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
    code: 'RESPONSE_UNUSABLE',
    // HTTPParserError or HPE_INVALID_CONSTANT: which undici is below fetch depends on what was loaded first.
    says: 'got an answer that is not HTTP (H',
  },
];

describe.each(transports)('with $name, before an answer', ({ options }) => {
  it.each(broken)(
    'the outcome is unknown, and one request went out, when the server $what',
    async ({ answer, code, says }) => {
      const server = await startRawServer({ answer });
      const error = await failureOf(createClient(server.url, options).payments.create(order));
      expect(error).toMatchObject({ code, requestOutcome: 'unknown' satisfies RequestOutcome });
      expect(error.message).toContain(`POST /api/payments ${says}`);
      expect(error.message).toContain('wait for its callback');
      expect(server.requests).toHaveLength(1);
    },
  );

  it('the outcome is unknown when the connection is reset as soon as it is accepted', async () => {
    // The reset goes out when undici, below fetch as well, has written the request: one that is
    // seen before counts as a connection that never was, in which nothing was sent.
    const server = await startRawServer({ connected: (socket) => void socket.pause() });
    const reset = (): void => void setImmediate(() => server.connections[0]?.resetAndDestroy());
    diagnostics.subscribe('undici:client:sendHeaders', reset);
    onTestFinished(() => void diagnostics.unsubscribe('undici:client:sendHeaders', reset));
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(server.connections).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it.each([302, 307, 308])(
    'a redirect by %i is not followed and leaves the outcome unknown',
    async (status) => {
      const target = await startRawServer({ answer: () => created });
      const server = await startRawServer({
        answer: () => httpAnswer(status, '', { location: `${target.url}/api/payments` }),
      });
      const error = await failureOf(createClient(server.url, options).payments.create(order));
      expect(error).toMatchObject({
        code: 'API_ERROR',
        httpStatus: status,
        requestOutcome: 'unknown',
      });
      expect(error.message).toContain('Redirects are not followed: check baseUrl.');
      expect(error.message).not.toContain(target.url);
      expect(server.requests).toHaveLength(1);
      expect(target.connections).toHaveLength(0);
    },
  );

  it('an abort while it waits for the answer leaves the outcome unknown', async () => {
    const server = await startRawServer({});
    const controller = new AbortController();
    const call = createClient(server.url, options).payments.create(order, {
      signal: controller.signal,
    });
    const failure = failureOf(call);
    await server.received(1);
    // It may be data.
    controller.abort(new Error('hunter2'));
    const error = await failure;
    expect(error).toMatchObject({ code: 'ABORTED', requestOutcome: 'unknown' });
    expect(error.message).toContain('was aborted by its signal. The service may');
    expect(`${error.stack}${error.cause}`).not.toContain('hunter2');
    expect(server.requests).toHaveLength(1);
    // The connection is not kept open for an abandoned answer.
    await connectionsClosed(server);
  });
});
