import diagnostics from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiError, InvalidCredentialsError } from '../../src/errors.js';
import {
  answerBegun,
  apiSecret,
  createClient,
  failureOf,
  holdDeadline,
  httpAnswer,
  noRetries,
  order,
  startRawServer,
  type TransportOptions,
  transports,
} from './raw-server.js';

const requestId = '0e5f1a52-8f4c-4f0a-9a43-2f1d0c9b7e11';
const told = (code: unknown, message: unknown) => ({ code, message, requestId });

const inDoubt =
  'The service may have processed the request: do not send it again; wait for its callback. (docs/errors.md#calls)';

async function failWith(answer: string, options: TransportOptions = noRetries): Promise<ApiError> {
  const server = await startRawServer({ answer: () => answer });
  const error = await failureOf(createClient(server.url, options).payments.create(order));
  expect(server.requests).toHaveLength(1);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe.each(transports)('an answer that is no 2xx, with $name,', ({ options }) => {
  const once = { ...options, ...noRetries };

  it('carries what the error body says', async () => {
    const error = await failWith(
      httpAnswer(422, told('AMOUNT_TOO_SMALL', 'Amount too small.')),
      once,
    );
    expect(error.toJSON()).toEqual({
      name: 'ApiError',
      code: 'API_ERROR',
      serviceCode: 'AMOUNT_TOO_SMALL',
      httpStatus: 422,
      requestId,
      requestOutcome: 'rejected',
      safeToRetry: false,
      message:
        'POST /api/payments was answered with 422 (AMOUNT_TOO_SMALL: Amount too small.). The service did not accept the request.',
    });
    expect(error).not.toBeInstanceOf(InvalidCredentialsError);
  });

  const refused = 'The service did not accept the request.';
  const redirected = `Redirects are not followed: check baseUrl. ${inDoubt}`;
  const elsewhere = 'Check baseUrl: the answer has no error code of the service.';
  it.each([
    [300, 'unknown', redirected],
    [399, 'unknown', redirected],
    [400, 'rejected', refused],
    [401, 'rejected', `Check apiKey and apiSecret. ${refused} (docs/errors.md#calls)`],
    [404, 'rejected', `${elsewhere} ${refused}`],
    [405, 'rejected', `${elsewhere} ${refused}`],
    [408, 'unknown', inDoubt],
    [409, 'rejected', `An earlier attempt may have created the payment. ${refused}`],
    [429, 'rejected', `${refused} It is safe to try again later.`],
    [498, 'rejected', refused],
    [499, 'unknown', inDoubt],
    [500, 'unknown', inDoubt],
    [599, 'unknown', inDoubt],
  ])('with status %i has the outcome %s, and says what to do', async (status, outcome, remedy) => {
    const error = await failWith(httpAnswer(status), once);
    expect(error).toMatchObject({ httpStatus: status, requestOutcome: outcome });
    expect(error.safeToRetry).toBe(status === 429);
    expect(error.message).toBe(`POST /api/payments was answered with ${status}. ${remedy}`);
  });

  const html = '<html><body><h1>502 Bad Gateway</h1></body></html>';
  it.each([
    ['an HTML page', httpAnswer(502, html, { 'content-type': 'text/html' })],
    ['null', httpAnswer(502, 'null')],
    ['fields of other types', httpAnswer(502, { code: [7], message: 5, requestId: null })],
    ['blank fields', httpAnswer(502, { code: ' ', message: '\n\t', requestId: '' })],
  ])('with %s for a body is an ApiError with code API_ERROR', async (_what, answer) => {
    const error = await failWith(answer, once);
    expect(error).toMatchObject({ code: 'API_ERROR', httpStatus: 502, requestOutcome: 'unknown' });
    expect(error.message).toContain('POST /api/payments was answered with 502. The service may');
    expect(error.requestId).toBeUndefined();
  });

  it.each([
    [401, 'INVALID_CREDENTIALS', 'rejected'],
    [500, 'API_ERROR', 'unknown'],
  ])(
    'with status %i whose body stalls until the deadline keeps its status',
    async (status, code, requestOutcome) => {
      const { timeoutMs, expire } = holdDeadline();
      const server = await startRawServer({
        answer: () => `HTTP/1.1 ${status} No\r\ncontent-length: 99\r\n\r\n{"code":`,
      });
      const begun = answerBegun();
      const failure = failureOf(
        createClient(server.url, {
          ...options,
          timeoutMs,
          idempotency: 'merchantPaymentReference',
        }).payments.create(order),
      );
      await begun;
      expire();
      expect(await failure).toMatchObject({ httpStatus: status, code, requestOutcome });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('whose body is being read when the signal is aborted ends as aborted', async () => {
    const controller = new AbortController();
    const server = await startRawServer({
      answer: () => 'HTTP/1.1 404 No\r\ncontent-length: 99\r\n\r\n{"code":',
    });
    const begun = answerBegun();
    const failure = failureOf(
      createClient(server.url, options).payments.create(order, { signal: controller.signal }),
    );
    await begun;
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED', requestOutcome: 'rejected' });
  });

  it('with status 429 says in whole seconds how long the service asked to wait', async () => {
    const fraction = httpAnswer(429, '', { 'retry-after': '16.0001' });
    expect(await failWith(fraction, once)).toMatchObject({ retryAfterSeconds: 17 });
    const headers = {
      date: 'Sat, 31 Jan 2026 12:00:00 GMT',
      'retry-after': 'Sat, 31 Jan 2026 12:00:17 GMT',
    };
    const dated = httpAnswer(429, '', headers);
    expect(await failWith(dated, once)).toMatchObject({ retryAfterSeconds: 17 });
  });
});

describe('what a server says in an error body', () => {
  const said = async (body: unknown) => failWith(httpAnswer(400, body));

  it('is cut after 300 characters', async () => {
    const error = await said({ message: 'x'.repeat(5000) });
    expect(error.message).toContain(`(${'x'.repeat(300)}…)`);
    expect(error.message).not.toContain('x'.repeat(301));
  });

  it('can be 300 characters long without being cut', async () => {
    expect((await said({ message: 'x'.repeat(300) })).message).toContain(`(${'x'.repeat(300)})`);
  });

  it.each([
    ['a line end', '\r\n'],
    ['a control', '\u001b'],
    ['a line separator', '\u2028'],
    ['a control of eight bits', '\u009b'],
  ])('cannot control a log or a terminal by %s', async (_what, hidden) => {
    const error = await said({ message: `paid${hidden}not`, requestId: `id${hidden}1` });
    expect(error.message).toContain('(paid not)');
    expect(error.requestId).toBe('id 1');
  });

  it.each([
    ['payment.declined', 'payment.declined'],
    ['A'.repeat(64), 'A'.repeat(64)],
    [-1.5, '-1.5'],
    ['A'.repeat(65), undefined],
    ['two words', undefined],
    [true, undefined],
    [`BAD_${apiSecret}`, undefined],
  ])('is a code only when it looks like one: %s', async (code, expected) => {
    const error = await said({ code, message: 'm' });
    expect(error).toMatchObject({ code: 'API_ERROR' });
    expect(error.serviceCode).toBe(expected);
  });

  it('keeps InvalidCredentialsError at its literal code', async () => {
    const error = await failWith(httpAnswer(401, told('KEY_EXPIRED', 'Key expired.')));
    expect(error).toMatchObject({ name: 'InvalidCredentialsError', code: 'INVALID_CREDENTIALS' });
    expect(error.serviceCode).toBe('KEY_EXPIRED');
    expect(error).toBeInstanceOf(InvalidCredentialsError);
    expect(error.message).toContain('(KEY_EXPIRED: Key expired.)');
  });
});

it('an answer received in full before the signal was aborted is reported as received', async () => {
  const controller = new AbortController();
  const abort = () => queueMicrotask(() => controller.abort());
  diagnostics.subscribe('undici:request:trailers', abort);
  onTestFinished(() => void diagnostics.unsubscribe('undici:request:trailers', abort));
  const server = await startRawServer({ answer: () => httpAnswer(404, told('NO_ROUTE', 'No.')) });
  const { signal } = controller;
  const error = await failureOf(createClient(server.url).payments.create(order, { signal }));
  expect(signal.aborted).toBe(true);
  expect(error).toMatchObject({ httpStatus: 404, requestOutcome: 'rejected' });
  expect(error.message).toContain('404 (NO_ROUTE: No.). The service did not accept');
});

// So does a fetch that hides a redirect, or that makes up an answer for its own failure.
it('a fetch that answers with status 0 leaves the payment unknown', async () => {
  const client = createClient('https://payments.invalid', { fetch: async () => Response.error() });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'API_ERROR', httpStatus: 0, requestOutcome: 'unknown' });
});

it('the cause is a stand-in with code and text, and no stack or request', async () => {
  const server = await startRawServer({ answer: ({ socket }) => void socket.end() });
  const error = await failureOf(createClient(server.url).payments.create(order));
  const cause = error.cause as Error & { code: string };
  expect(cause.code).toBe('UND_ERR_SOCKET');
  expect(cause.message).toBe('other side closed');
  expect(Object.keys(cause)).toEqual(['code']);
  expect(cause.stack).toBeUndefined();
  expect(cause.cause).toBeUndefined();
});
