import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { signCallback } from '../dist/testing/index.js';
import { median } from './paired-batches.mjs';
import { behindOurs, isStarted, plainRow, report } from './report.mjs';

const ROUNDS = 15;
const here = fileURLToPath(new URL('.', import.meta.url));
const dist = (path) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));

const signingSecret = 'whsec_c2VjcmV0LW9mLXRoZS1iZW5jaA==';
const create = `{ merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' }`;

// Each is a serverless function as it is deployed: one file. Its first work done, it prints the CPU time
// that its process has used since it started: on the clock, other work on the machine would count.
const done = `process.stdout.write(JSON.stringify(process.cpuUsage()));`;

/** The first callback: the handler is called with a request that is there already. */
const callbacks = {
  'merchant-payments/lambda': `
    import { callbackHandler } from ${JSON.stringify(dist('lambda/index.js'))};
    const handler = callbackHandler({ signingSecret: process.env.SECRET, onPayment: async () => {} });
    const { statusCode } = await handler({
      version: '2.0',
      requestContext: { http: { method: 'POST' } },
      headers: JSON.parse(process.env.OURS_HEADERS),
      body: process.env.OURS_BODY,
      isBase64Encoded: false,
    });
    if (statusCode === 200) ${done}`,
  'stripe, webhooks.constructEvent': `
    import Stripe from 'stripe';
    const stripe = new Stripe('sk_test_bench');
    const header = stripe.webhooks.generateTestHeaderString({ payload: process.env.OURS_BODY, secret: process.env.SECRET });
    if (stripe.webhooks.constructEvent(process.env.OURS_BODY, header, process.env.SECRET)) ${done}`,
  standardwebhooks: `
    import { Webhook } from 'standardwebhooks';
    const webhook = new Webhook(process.env.SECRET);
    const at = new Date();
    const signature = webhook.sign('msg_1', at, process.env.OURS_BODY);
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(at / 1000)), 'webhook-signature': signature };
    if (webhook.verify(process.env.OURS_BODY, headers)) ${done}`,
};

/** The first payment: created at a server in another process, and the process may end. */
const creations = {
  'merchant-payments': `
    import { PaymentClient } from ${JSON.stringify(dist('index.js'))};
    const client = new PaymentClient({ baseUrl: process.env.BASE_URL, apiKey: 'key', apiSecret: 'secret' });
    if ((await client.payments.create(${create})).response.status === 200) ${done}`,
  stripe: `
    import Stripe from 'stripe';
    const { hostname, port } = new URL(process.env.BASE_URL);
    const stripe = new Stripe('sk_test_bench', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
    if (await stripe.paymentIntents.create({ amount: 2500, currency: 'eur' })) ${done}`,
  axios: `
    import axios from 'axios';
    const { status } = await axios.post(process.env.BASE_URL + '/api/payments', ${create});
    if (status === 200) ${done}`,
  fetch: `
    const body = JSON.stringify(${create});
    const { status } = await fetch(process.env.BASE_URL + '/api/payments', { method: 'POST', body });
    if (status === 200) ${done}`,
};

async function bundleAll(folder, functions) {
  const files = {};
  for (const [name, code] of Object.entries(functions)) {
    const outfile = join(folder, `${Object.keys(files).length}.mjs`);
    await build({
      stdin: { contents: code, resolveDir: here },
      outfile,
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.18',
      // CommonJS inside an ES module asks for Node's own modules by `require`.
      banner: {
        js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
      },
      logLevel: 'error',
    });
    files[name] = outfile;
  }
  return files;
}

/** Milliseconds of CPU from the start of a process to its first output. */
async function timeFirstOutput(file, env) {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output;
  child.stdout.once('data', (data) => {
    output = String(data);
    child.kill();
  });
  await once(child, 'close');
  if (output === undefined) throw new Error(`${file} was not done`);
  const { user, system } = JSON.parse(output);
  return (user + system) / 1000;
}

async function measureFunctions(functions, env) {
  mkdirSync(join(here, 'node_modules'), { recursive: true });
  const folder = mkdtempSync(join(here, 'node_modules/.cold-start-'));
  try {
    const files = await bundleAll(folder, functions);
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, done);
    const beyondEmpty = Object.fromEntries(Object.keys(files).map((name) => [name, []]));
    const startMs = [];
    // The first round fills the disk cache and does not count.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, file] of Object.entries(files)) {
        // An empty process beside each: what else the machine does slows both.
        const emptyMs = await timeFirstOutput(empty, env);
        const ms = await timeFirstOutput(file, env);
        if (round === 0) continue;
        startMs.push(emptyMs);
        beyondEmpty[name].push(ms - emptyMs);
      }
    }
    return Object.fromEntries(
      Object.entries(beyondEmpty).map(([name, all]) => [name, median(all) / median(startMs)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toRows(ratios) {
  const [[name, ours], ...peers] = Object.entries(ratios);
  return [
    plainRow(`  ${name}`, ours),
    ...peers.map(([peer, value]) => behindOurs(`  ${peer}`, value, ours)),
  ];
}

/** A process of a serverless platform, from its start until its first work is done. */
export async function measureColdStart() {
  const { rawBody, headers } = signCallback({ payment: { status: 'paid' }, signingSecret });
  const callbackRatios = await measureFunctions(callbacks, {
    SECRET: signingSecret,
    OURS_HEADERS: JSON.stringify(headers),
    OURS_BODY: Buffer.from(rawBody).toString(),
  });
  const server = fork(fileURLToPath(new URL('./client-server.mjs', import.meta.url)));
  const [port] = await once(server, 'message');
  const creationRatios = await measureFunctions(creations, {
    BASE_URL: `http://127.0.0.1:${port}`,
  });
  server.disconnect();
  return {
    title:
      'cold start: a function in one file, CPU from the start of its process to its first work, beyond an empty process, ratio to the empty one',
    rows: [
      plainRow('first callback answered', callbackRatios['merchant-payments/lambda']),
      ...toRows(callbackRatios),
      plainRow('first payment created', creationRatios['merchant-payments']),
      ...toRows(creationRatios),
    ],
  };
}

if (isStarted(import.meta.url)) report([await measureColdStart()]);
