import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

/** A key and a certificate of 127.0.0.1, by openssl. */
export async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'field-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const options = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=127.0.0.1',
  ];
  await promisify(execFile)('openssl', ['req', ...options, '-keyout', key, '-out', cert]);
  const made = { key: await readFile(key), cert: await readFile(cert) };
  await rm(folder, { recursive: true });
  return made;
}

/**
 * A payment service on loopback, for any client: it answers with the fields that each of them reads.
 *
 * @param options `keys`: whether it recognises idempotency keys, by header or in the body; `fault`: what goes wrong once;
 * `onCreated`: called when a payment was created, before its answer, which waits for the promise; `tls`: a key and a
 * certificate, for a client that refuses plain HTTP
 */
export async function startService({ keys = false, fault, onCreated, tls } = {}) {
  const sockets = new Map();
  const payments = [];
  const byKey = new Map();
  let requests = 0;
  let isFaultOver = fault === undefined;

  function create(key) {
    const known = keys && key !== undefined ? byKey.get(key) : undefined;
    if (known !== undefined) return known;
    const id = `pay_${payments.length + 1}`;
    payments.push(id);
    if (key !== undefined) byKey.set(key, id);
    return id;
  }

  /** Whether this request is the one that fails. */
  function isHit() {
    if (isFaultOver || (fault.name === 'expired-connection' && requests === 1)) return false;
    isFaultOver = true;
    return true;
  }

  async function serve(request, response) {
    const body = await text(request);
    if (request.method !== 'POST') return answer(response, checkoutPage);
    requests += 1;
    const fails = isHit();
    const before = payments.length;
    const id = fails && !fault.creates ? undefined : create(keyOf(request, body));
    if (payments.length > before) await onCreated?.(id);
    if (fails) fail(request, response, id);
    else answer(response, { status: 201, body: bodyOf(id) });
  }

  function fail(request, response, id) {
    if (fault.waits) return; // the answer would come after every deadline
    if (fault.cut === 'before') return sockets.get(request.socket.remotePort).resetAndDestroy();
    if (fault.cut === undefined) {
      return answer(response, { body: errorBody(fault.answer.status), ...fault.answer });
    }
    const body = bodyOf(id);
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': body.length });
    response.write(body.slice(0, body.length / 2), () => request.socket.end());
  }

  const listener = (request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  // Below TLS, because only a TCP socket can be reset.
  server.on('connection', (socket) => sockets.set(socket.remotePort, socket));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  if (fault?.name === 'refused') await close();
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    get payments() {
      return payments.length;
    },
    close,
  };
}

/** An error in the form of each client's own service. */
const errorBody = (status) =>
  JSON.stringify({
    code: 'FAILED',
    message: 'Failed.',
    requestId: 'request-1',
    error: { type: 'api_error', message: 'Failed.' },
    errors: [{ category: 'API_ERROR', code: 'FAILED', detail: 'Failed.' }],
    status,
    title: 'Failed',
    detail: 'Failed.',
  });

const checkoutPage = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Pay</title>',
};

function answer(response, { status, headers, body }) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** The key of Stripe, Mollie and this package is a header, that of Square a field. */
function keyOf(request, body) {
  const header = request.headers['idempotency-key'];
  if (header !== undefined) return header;
  return body.startsWith('{') ? JSON.parse(body).idempotency_key : undefined;
}

function bodyOf(id) {
  return JSON.stringify({
    id,
    object: 'payment_intent',
    resource: 'payment',
    referenceNumber: id,
    payment: { id },
    status: 'created',
    _links: {},
  });
}
