import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { describe, expect, test } from 'vitest';
import { runCommand, startCommand, startMock } from './run-command.js';

const createArgs = [
  ...['payments', 'create', '--reference', 'order-1', '--amount', '12.50', '--currency', 'EUR'],
];

const credentials = {
  MERCHANT_PAYMENTS_API_KEY: 'planted-api-key',
  MERCHANT_PAYMENTS_API_SECRET: 'planted-api-secret',
};

interface Listening extends AsyncDisposable {
  readonly host: string;
}

async function listen(server: Server | TcpServer): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const serve = (listener: RequestListener) => listen(createServer(listener));

const serviceEnv = (url: string) => ({ ...credentials, MERCHANT_PAYMENTS_BASE_URL: url });

/** Creates a payment at a service that answers so. */
async function createWith(answer: RequestListener, ...args: readonly string[]) {
  await using service = await serve(answer);
  return await runCommand([...createArgs, ...args], serviceEnv(`http://${service.host}`));
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s while a payment is created', (signal) => {
  test('at the service: says that the payment may exist', async () => {
    const server = createServer();
    await using service = await listen(server);
    await using command = startCommand(createArgs, {
      env: serviceEnv(`http://${service.host}`),
    });
    await once(server, 'request');
    command.kill(signal);
    const { code, stdout, stderr } = await command.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [note, message, ...rest] = stderr.split('\n');
    expect(note).toBe(`creating a payment at http://${service.host}`);
    expect(message).toMatch(/^merchant-payments: ABORTED: POST \/api\/payments was aborted/);
    expect(message).toContain(
      'It is unknown whether the payment was created: look for it before you try again',
    );
    expect(rest).toEqual(['']);
  });

  test('at a service that accepts no connection: says that nothing was sent', async () => {
    // It accepts, and says nothing to the beginning of TLS.
    const server = createTcpServer((socket) => socket.on('error', () => undefined).resume());
    await using service = await listen(server);
    await using command = startCommand(createArgs, {
      env: serviceEnv(`https://${service.host}`),
    });
    await once(server, 'connection');
    command.kill(signal);
    const { code, stdout, stderr } = await command.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Nothing was sent, so no payment was created\n');
  });

  test('in the mock: says that the payment may exist', async () => {
    const server = createServer();
    await using mock = await listen(server);
    const url = `http://${mock.host}`;
    await using command = startCommand([...createArgs, '--mock-url', url]);
    await once(server, 'request');
    command.kill(signal);
    const { code, stdout, stderr } = await command.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^merchant-payments: ABORTED: .*It is unknown whether the payment was/);
  });
});

describe('a 2xx that is not a payment fails: ', () => {
  test.each<[string, number, Record<string, string>, string, string]>([
    ['a web page', 200, { 'content-type': 'text/html; charset=utf-8' }, '<h1>ok</h1>', 'text/html'],
    ['no body', 204, {}, '', 'no body'],
    [
      'broken JSON',
      201,
      { 'content-type': 'application/json' },
      '{"a":',
      'application/json that is not a JSON object',
    ],
    ['a JSON text', 201, { 'content-type': 'application/json' }, '"ok"', 'application/json that'],
    ['an array', 200, { 'content-type': 'application/json' }, '[]', 'a JSON array'],
    ['null', 200, { 'content-type': 'application/json' }, 'null', 'JSON of null'],
    ['a number', 202, { 'content-type': 'application/json' }, '7', 'JSON of a number'],
    ['unlabelled text', 200, {}, 'hello', 'without a Content-Type'],
  ])('%s', async (_what, status, headers, body, told) => {
    for (const args of [[], ['--json']]) {
      const ended = await createWith(
        (request, response) => {
          request.resume().on('end', () => response.writeHead(status, headers).end(body));
        },
        ...args,
      );
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      const [, message, ...rest] = ended.stderr.split('\n');
      expect(message).toContain(
        `merchant-payments: the service answered ${status}, but not with a payment (${told}`,
      );
      expect(message).toContain(
        '): check that MERCHANT_PAYMENTS_BASE_URL is right; the payment may exist: look for it before you try again',
      );
      expect(rest).toEqual(['']);
    }
  });

  test.each(['malformed-json', 'empty-body'])('the %s fault of the mock', async (fault) => {
    await using mock = await startMock('--api-key=planted-api-key');
    await mock.run('fault', 'add', 'request', fault);
    const ended = await runCommand(createArgs, {
      ...serviceEnv(mock.url),
      MERCHANT_PAYMENTS_API_SECRET: 'mock_api_secret',
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('but not with a payment');
  });
});

test('after a 409 an earlier payment may exist', async () => {
  const { code, stdout, stderr } = await createWith((request, response) => {
    request.resume().on('end', () => response.writeHead(409).end('{"code":"CONFLICT"}'));
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /CONFLICT: .*\. The service rejected this request, but an earlier one may have created the payment: look for it before you try again\n$/,
  );
  expect(stderr).not.toContain('no payment was created');
});

test.each([
  '{"id":7}',
  '{}',
  '{"referenceNumber":""}',
  '{"referenceNumber":" "}',
  '{"referenceNumber":7}',
])('notes that the answer %s has no reference number, and prints the answer', async (body) => {
  const answer: RequestListener = (request, response) => {
    request.resume().on('end', () => response.writeHead(202).end(body));
  };
  const note = 'note: the answer has no reference number\n';
  const text = await createWith(answer);
  expect(text).toMatchObject({
    code: 0,
    stdout: [
      'the service accepted the payment with 202',
      '  merchant reference  order-1',
      '  amount              12.5 EUR',
      `  answer              ${body}\n`,
    ].join('\n'),
  });
  expect(text.stderr.endsWith(`\n${note}`)).toBe(true);
  const json = await createWith(answer, '--json');
  expect(json).toMatchObject({ code: 0, stdout: `${body}\n` });
  expect(json.stderr.endsWith(`\n${note}`)).toBe(true);
});

test('an answer that names its reference number is a payment, whatever else it has', async () => {
  const body = '{"referenceNumber":"7","status":"new\\u001b","more":[1]}';
  const answer: RequestListener = (request, response) => {
    request.resume().on('end', () => response.writeHead(200).end(body));
  };
  const text = await createWith(answer);
  expect(text).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the payment was created\n/),
  });
  expect(text.stdout).toContain('  reference number    7\n');
  expect(text.stdout).toContain('  status              new\\x1b\n');
  expect(text.stderr).not.toContain('note:');
  expect((await createWith(answer, '--json')).stdout).toBe(`${body}\n`);
});

test('the credentials are not printed when a server echoes the request', async () => {
  for (const args of [[], ['--json']]) {
    const { code, stdout, stderr } = await createWith(
      (request, response) => {
        const { authorization = '' } = request.headers;
        const decoded = Buffer.from(authorization.slice(6), 'base64').toString();
        response.end(JSON.stringify({ headers: { authorization, decoded } }));
      },
      ...args,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('Basic [redacted]');
    const { MERCHANT_PAYMENTS_API_KEY: key, MERCHANT_PAYMENTS_API_SECRET: secret } = credentials;
    for (const text of [secret, btoa(`${key}:${secret}`)]) {
      expect(stdout + stderr).not.toContain(text);
    }
  }
});
