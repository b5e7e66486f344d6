import { Agent, request } from '/work/main/node_modules/undici/index.js';
import { PaymentClient } from '/work/main/dist/index.js';
import { startService } from '/work/main/bench/service-process.mjs';
import { measureRatio, cpuClock, LONG_BATCHES, SHORT_BATCHES } from '/work/main/bench/paired-batches.mjs';
const { baseUrl, stop } = await startService();
const path = '/api/payments';
const payment = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
const json = JSON.stringify(payment).padEnd(90);
const authorization = `Basic ${Buffer.from('key:secret').toString('base64')}`;
const headers = { authorization, 'content-type': 'application/json' };
const floor = async () => { const { body } = await request(baseUrl + path, { method: 'POST', headers, body: json }); return body.json(); };
const list = ['authorization', authorization, 'accept','application/json','accept-encoding','identity','user-agent','x/1', 'content-type', 'application/json'];
const agent = new Agent({ connections: 256, pipelining: 1, allowH2: false });
const origin = new URL(baseUrl).origin;
class Handler {
  constructor(resolve, wait) { this.resolve = resolve; this.wait = wait; }
  onRequestStart() {}
  onResponseStart(c, status, headers) { this.status = status; this.headers = headers; }
  onResponseData(c, chunk) { this.body = chunk; }
  onResponseEnd() { if (this.wait) queueMicrotask(() => setImmediate(done, this)); else done(this); }
  onResponseError(c, e) { this.resolve(Promise.reject(e)); }
}
function done(h) { h.resolve(JSON.parse(h.body.toString())); }
const least = (wait, hdrs = list, timeouts = true) => () => new Promise((resolve) => agent.dispatch({ origin, path, method: 'POST', headers: hdrs, body: json, ...(timeouts ? { headersTimeout: 0, bodyTimeout: 0 } : {}) }, new Handler(resolve, wait)));
const client = new PaymentClient({ baseUrl, apiKey: 'key', apiSecret: 'secret' });
const subjects = { ours: () => client.payments.create(payment), least: least(false), waits: least(true), 'waits, 2 headers, timeouts': least(true, headers, false) };
const batch = (call, inFlight = 16) => async (count) => { let left = count; const w = async () => { while (left > 0) { left -= 1; await call(); } }; await Promise.all(Array.from({ length: inFlight }, w)); };
const only = process.argv[2];
for (const name in subjects) {
  if (only && only !== name) continue;
  const r = await measureRatio({ floor: batch(floor), subject: batch(subjects[name]), clock: cpuClock, ...SHORT_BATCHES });
  console.log(name, r.toFixed(3));
}
stop(); process.exit();
