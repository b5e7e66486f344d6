import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { bundle } from '../../bundle.js';
import { corporateCa, corporateIdentity } from '../corporate-ca.js';
import { apiKey, apiSecret, record } from '../raw-server.js';
import * as publicIdentity from '../tls-identity.js';
import { startProxy } from './connect-proxy.js';

// The guide's table of ways, and its code below: each is given to a process whose client creates a payment
// at a service behind TLS.

const guide = readFileSync('docs/connections.md', 'utf8');
const [, section = ''] = guide.split('\n## Proxies and certificates\n');
const rows = new Map(
  [...section.matchAll(/^\| (.*) \| (`\w+=.*`) \|$/gm)].map(([, way = '', cell = '']) => [
    way,
    Object.fromEntries(
      [...cell.matchAll(/`(\w+)=([^`]+)`/g)].map(([, name, value = '']) => [name, value]),
    ),
  ]),
);
const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(section) ?? [];

// Within the project, where the code finds undici.
const folder = path.resolve(mkdtempSync('test-artifacts/ways-'));
afterAll(() => rmSync(folder, { recursive: true }));
const caFile = path.join(folder, 'ca.pem');
const publicFile = path.join(folder, 'public.pem');
writeFileSync(caFile, corporateCa);
writeFileSync(publicFile, publicIdentity.cert);

interface Surroundings {
  readonly identity?: typeof corporateIdentity;
  readonly proxy?: Parameters<typeof startProxy>[0];
}

/** A service behind TLS and a proxy, at which the names of the guide point. */
async function startSurroundings({ identity = publicIdentity, proxy: options }: Surroundings) {
  const server = createServer({ cert: identity.cert, key: identity.key }, (_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(record));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy = await startProxy(options);
  const here = (text: string) =>
    text
      .replace(/proxy\.example:\d+/, `127.0.0.1:${proxy.port}`)
      .replace('payments.example', 'localhost')
      .replace('/etc/ssl/corporate-ca.pem', caFile);
  const environment = {
    MERCHANT_PAYMENTS_BASE_URL: `https://localhost:${port}`,
    MERCHANT_PAYMENTS_API_KEY: apiKey,
    MERCHANT_PAYMENTS_API_SECRET: apiSecret,
  };
  return { proxy, here, environment, tunnel: `CONNECT localhost:${port}` };
}

const creation = path.join(folder, 'create.ts');
writeFileSync(
  creation,
  `import { PaymentClient } from 'merchant-payments';

await using client = PaymentClient.fromEnv();
try {
  const order = { merchantPaymentReference: 'order-1', amount: 5, currency: 'EUR' };
  console.log((await client.payments.create(order)).payment.referenceNumber);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
`,
);
await bundle({ create: creation }, folder);

/** Creates a payment in a process with the environment of a row. */
async function createBy(variables: Record<string, string>, surroundings: Surroundings = {}) {
  const { proxy, here, environment, tunnel } = await startSurroundings(surroundings);
  const given = Object.entries(variables).map(([name, value]) => [name, here(value)]);
  const env = {
    ...environment,
    // Stands for the CAs that Node brings along.
    NODE_EXTRA_CA_CERTS: publicFile,
    ...Object.fromEntries(given),
  };
  const program = path.join(folder, 'create.js');
  const running = promisify(execFile)(process.execPath, [program], { env });
  const ended = await running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
  return { ...ended, seen: proxy.seen, tunnel };
}

const withPassword = { proxy: { credentials: 'user:p@ss' } };
const inspecting = {
  proxy: { inspects: { as: corporateIdentity, trusts: publicIdentity.cert } },
};
const withOwnCa = { identity: corporateIdentity };
// What the row leaves out is set here: nothing but the CAs of Node, and where the system has its own.
const systemStore = { NODE_EXTRA_CA_CERTS: '', SSL_CERT_FILE: caFile };

const ways: Record<
  string,
  { surroundings?: Surroundings; tunnelled: boolean; beside?: Record<string, string> }
> = {
  'direct; a proxy variable alone changes nothing': { tunnelled: false },
  'a proxy': { tunnelled: true },
  "a proxy, by Node's own flag (Node 22.21, 24.5 and later)": { tunnelled: true },
  'a proxy with a password': { surroundings: withPassword, tunnelled: true },
  'a proxy that is reached over TLS': {
    surroundings: { proxy: { identity: publicIdentity } },
    tunnelled: true,
  },
  'a proxy, bypassed for this service': { tunnelled: false },
  "a proxy that inspects TLS, with the company's CA": {
    surroundings: inspecting,
    tunnelled: true,
  },
  "direct, to a certificate of the company's CA": { surroundings: withOwnCa, tunnelled: false },
  'the same, with the CAs of the system (Node 22.15, 23.8 and later)': {
    surroundings: withOwnCa,
    tunnelled: false,
    beside: systemStore,
  },
};

it('every row of the table is run', () => {
  expect([...rows.keys()]).toEqual(Object.keys(ways));
});

it.for(Object.entries(ways))('%s', async ([way, { surroundings, tunnelled, beside }], it) => {
  const variables = rows.get(way) ?? {};
  const option = variables['NODE_OPTIONS'];
  const isKnown = option === undefined || process.allowedNodeEnvironmentFlags.has(option);
  it.skip(!isKnown, `this Node does not know ${option}`);
  const ended = await createBy({ ...beside, ...variables }, surroundings);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stdout).toContain(record.referenceNumber);
  expect(ended.seen).toEqual(tunnelled ? [ended.tunnel] : []);
});

it.each([
  ['a proxy that refuses the password', 'a proxy with a password', 'user:other'],
  ['a proxy that asks for a password', 'a proxy', 'user:p@ss'],
])('%s: PROXY_TUNNEL_FAILED', async (_what, way, credentials) => {
  const ended = await createBy(rows.get(way) ?? {}, { proxy: { credentials } });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('got no connection (PROXY_TUNNEL_FAILED). Nothing was sent');
});

it.each([
  ['a proxy that inspects TLS', 'a proxy', inspecting],
  ['a service', 'a proxy, bypassed for this service', withOwnCa],
])('%s, with a certificate of a CA that was not named', async (_what, way, surroundings) => {
  const ended = await createBy(rows.get(way) ?? {}, surroundings);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('(UNABLE_TO_VERIFY_LEAF_SIGNATURE), since Node trusts no CA');
  expect(ended.stderr).toContain('NODE_EXTRA_CA_CERTS. Nothing was sent');
});

it('the code does what the table says of a proxy that inspects TLS', async () => {
  const { proxy, here, environment, tunnel } = await startSurroundings(inspecting);
  const call = `const { payment } = await client.payments.create({ merchantPaymentReference: 'order-1', amount: 5, currency: 'EUR' });
    console.log(payment.referenceNumber);
    process.exit();`;
  const source = path.join(folder, 'code.ts');
  writeFileSync(source, here(code) + call);
  await bundle({ code: source }, folder);
  const program = path.join(folder, 'code.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: environment });
  expect(stdout.trim()).toBe(record.referenceNumber);
  expect(proxy.seen).toEqual([tunnel]);
});
