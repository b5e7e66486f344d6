import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest';
import {
  type MockServer,
  type RequestFault,
  startMockServer,
} from '../../src/mock-server/index.js';
import { operations } from '../../src/protocol/operations.js';
import { checkCallbackEndpoint } from '../../src/testing/index.js';
import { refusedPort } from '../client/raw-server.js';
import { findRequestDepartures } from './conformance.js';
import { operationAt } from './document.js';
import { startRecordingProxy } from './recording-proxy.js';

// The clients of the guide, made from openapi.json alone, at the mock. Each runs in one process, which
// creates payments as lines of JSON ask and verifies callbacks.

const signingSecret = 'whsec_of_other_languages';
const payment = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
const root = mkdtempSync(path.join(tmpdir(), 'clients-'));
afterAll(() => rmSync(root, { recursive: true }));

interface Language {
  readonly name: string;
  readonly version: readonly string[];
  /** The program and its arguments. */
  readonly prepare: () => readonly [string, ...string[]];
}

const languages: readonly Language[] = [
  {
    name: 'Python',
    version: ['python3', '--version'],
    prepare: () => {
      cpSync('examples/openapi/payments.py', path.join(root, 'payments.py'));
      cpSync('test/openapi/clients/driver.py', path.join(root, 'driver.py'));
      return ['python3', path.join(root, 'driver.py')];
    },
  },
  {
    name: 'Go',
    version: ['go', 'version'],
    prepare: () => {
      const folder = path.join(root, 'go');
      mkdirSync(path.join(folder, 'payments'), { recursive: true });
      cpSync('examples/openapi/payments.go', path.join(folder, 'payments/payments.go'));
      cpSync('test/openapi/clients/driver.go', path.join(folder, 'main.go'));
      writeFileSync(path.join(folder, 'go.mod'), 'module merchant\n\ngo 1.19\n');
      execFileSync('go', ['build', '-o', 'driver', '.'], { cwd: folder });
      return [path.join(folder, 'driver')];
    },
  },
];

interface Created {
  readonly outcome: string;
  readonly [field: string]: unknown;
}

describe.each(languages)('the $name client', ({ name, version, prepare }) => {
  const [program = '', ...args] = version;
  const isThere = spawnSync(program, args).status === 0;
  if (!isThere) console.log(`No ${program} was found: the ${name} client of the guide is not run.`);
  const testIf = test.runIf(isThere || process.env['CI'] === 'true');

  let child: ChildProcess;
  let port = 0;
  let lines: AsyncIterator<string>;
  const read = async () => JSON.parse((await lines.next()).value);

  async function create(
    target: Pick<MockServer, 'url' | 'apiKey' | 'apiSecret'>,
    timeoutSeconds = 60,
  ): Promise<Created> {
    const { url: baseUrl, apiKey, apiSecret } = target;
    const call = { baseUrl, apiKey, apiSecret, payment, timeoutSeconds };
    child.stdin?.write(`${JSON.stringify(call)}\n`);
    return await read();
  }

  /** The same, with what was on the wire. */
  async function createWatched({ url, apiKey, apiSecret }: MockServer, other = {}) {
    await using proxy = await startRecordingProxy(url);
    const created = await create({ apiKey, apiSecret, ...other, url: proxy.url });
    const [exchange] = proxy.exchanges;
    assert(exchange);
    return { created, exchange };
  }

  beforeAll(async () => {
    if (!isThere) return;
    const [command, ...rest] = prepare();
    const env = { ...process.env, MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret };
    child = spawn(command, rest, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    assert(child.stdout);
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    port = (await read()).port;
  });

  afterAll(async () => {
    if (!isThere) return;
    child.kill();
    await once(child, 'close');
  });

  testIf('creates a payment by a request of the document, and reads the answer', async () => {
    await using service = await startMockServer();
    const { created, exchange } = await createWatched(service);
    const { referenceNumber } = service.payments.list()[0] ?? {};
    expect(created).toMatchObject({ outcome: 'created', answer: { referenceNumber } });
    const { path: target, method } = operations['payments.create'];
    const { request } = exchange;
    expect([request.method, request.path]).toEqual([method, target]);
    expect(findRequestDepartures(operationAt(target, method), request)).toEqual([]);
    expect(JSON.parse(request.body)).toEqual(payment);
  });

  testIf('knows a 401 with its code and requestId', async () => {
    await using service = await startMockServer();
    const { created, exchange } = await createWatched(service, { apiSecret: 'another' });
    const { requestId } = JSON.parse(exchange.answer?.body ?? '');
    const code = 'INVALID_CREDENTIALS';
    expect(created).toEqual({ outcome: 'rejected', status: 401, code, requestId });
  });

  testIf.each<[RequestFault['type'], string, number]>([
    ['client-error', 'rejected', 0],
    ['rate-limit', 'rejected', 0],
    ['server-error', 'unknown', 0],
    ['html-error', 'unknown', 0],
    ['reset-before-headers', 'unknown', 0],
    ['lost-answer', 'unknown', 1],
    ['hang', 'unknown', 0],
    ['empty-body', 'created', 1],
    ['malformed-json', 'created', 1],
    ['truncated-body', 'created', 1],
    ['reset-in-body', 'created', 1],
  ])('sends once and says what is known after %s: %s', async (type, outcome, payments) => {
    await using service = await startMockServer();
    service.faults.add({ on: 'request', type } as RequestFault);
    expect(await create(service, type === 'hang' ? 1 : 60)).toMatchObject({ outcome });
    expect(service.requests).toHaveLength(1);
    expect(service.payments.list()).toHaveLength(payments);
  });

  testIf('knows that nothing was sent without a connection', async () => {
    const url = `http://127.0.0.1:${await refusedPort()}`;
    expect(await create({ url, apiKey: 'key', apiSecret: 'secret' })).toEqual({
      outcome: 'not-sent',
    });
  });

  testIf('verifies the callbacks of the mock, and nothing else, as `check` sees it', async () => {
    const report = await checkCallbackEndpoint(`http://127.0.0.1:${port}/`, { signingSecret });
    expect(report.checks.filter((check) => check.outcome === 'failed')).toEqual([]);
  });
});
