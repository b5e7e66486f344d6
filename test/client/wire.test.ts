import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { userAgent } from '../../src/client/request-headers.js';
import { version } from '../../src/protocol/version.js';
import {
  authorization,
  createClient,
  created,
  order,
  type RawRequest,
  startRawServer,
  type TransportOptions,
  transports,
} from './raw-server.js';

interface Call extends TransportOptions {
  readonly prefix?: string;
  readonly send?: (client: ReturnType<typeof createClient>) => Promise<unknown>;
}

/** The request as the server got it. */
async function received({ prefix = '', send, ...options }: Call): Promise<RawRequest> {
  const server = await startRawServer({ answer: () => created });
  const client = createClient(server.url + prefix, options);
  await (send ?? ((one) => one.payments.create(order)))(client);
  expect(server.requests).toHaveLength(1);
  return server.requests[0] as RawRequest;
}

const common = {
  authorization,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': userAgent,
  connection: 'keep-alive',
  host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
};
// What fetch adds by its own rules.
const added = {
  undici: {},
  fetch: { 'accept-language': '*', 'sec-fetch-mode': 'cors' },
};

describe.each(transports)('on the wire, with $name,', ({ name, options }) => {
  it('a creation is POST /api/payments with exactly these headers and this body', async () => {
    const { line, headers, body } = await received(options);
    expect(line).toBe('POST /api/payments HTTP/1.1');
    expect(body).toBe('{"merchantPaymentReference":"order-1001","amount":2500,"currency":"EUR"}');
    expect(headers).toEqual({
      ...common,
      ...added[name],
      'content-type': 'application/json',
      'content-length': String(body.length),
    });
  });

  it('the credentials are HTTP Basic of their UTF-8 bytes', async () => {
    const secret = { apiKey: 'Schlüssel', apiSecret: 'a:b c:ö€😀 \u00a0z' };
    const { headers } = await received({ ...options, ...secret });
    expect(headers['authorization']).toBe('Basic U2NobMO8c3NlbDphOmIgYzrDtuKCrPCfmIAgwqB6');
  });

  it('a body is counted in bytes, not characters', async () => {
    const merchantPaymentReference = 'Größe-😀';
    const { headers, body } = await received({
      ...options,
      send: (client) => client.payments.create({ ...order, merchantPaymentReference }),
    });
    expect(JSON.parse(body)).toEqual({ ...order, merchantPaymentReference });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
  });

  it.each([
    ['/v2', 'POST /v2/api/payments HTTP/1.1'],
    ['/v2/', 'POST /v2/api/payments HTTP/1.1'],
    ['/gateway/merchant-api', 'POST /gateway/merchant-api/api/payments HTTP/1.1'],
  ])('the path prefix %s of the base URL is kept', async (prefix, line) => {
    expect((await received({ ...options, prefix })).line).toBe(line);
  });

  it.each([
    ['GET', '/api/payments?limit=10&after=%2F%20x', undefined],
    ['DELETE', '/api/payments/7b0f', undefined],
    ['OPTIONS', '/', undefined],
    ['POST', '/api/payments/7b0f/refunds?dry=1', { amount: 1.5 }],
    ['PUT', '/api/payments/7b0f', ['a', null]],
    ['PATCH', "/a!$&'()*+,;=:@-._~%41", 'text'],
    ['DELETE', '/api/payments/7b0f', false],
  ])('request() sends %s %s', async (method, path, body) => {
    const got = await received({
      ...options,
      prefix: '/v2',
      send: (client) => client.request({ method, path, body }),
    });
    expect(got.line).toBe(`${method} /v2${path} HTTP/1.1`);
    expect(got.body).toBe(body === undefined ? '' : JSON.stringify(body));
    expect(got.headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
    expect(got.headers['authorization']).toBe(authorization);
  });

  it('the headers of the answer come with names in lower case, and cookies one by one', async () => {
    const server = await startRawServer({
      answer: () =>
        'HTTP/1.1 201 Created\r\nX-Request-Id: abc\r\nSet-Cookie: a=1, b\r\nSet-Cookie: c=2\r\nContent-Length: 0\r\n\r\n',
    });
    const { response } = await createClient(server.url, options).payments.create(order);
    expect(response.headers).toEqual({
      'x-request-id': 'abc',
      'set-cookie': ['a=1, b', 'c=2'],
      'content-length': '0',
    });
  });
});

it('the user agent tells the version of package.json', () => {
  expect(version).toBe(packageJson.version);
  expect(userAgent).toBe(`merchant-payments/${packageJson.version}`);
});
