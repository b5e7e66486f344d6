import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { PaymentClient } from '../../src/client/payment-client.js';
import { MerchantPaymentsError } from '../../src/errors.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from './property-runs.js';

/** What a server does once it has a request: the pieces it writes, and what becomes of the connection. */
interface Answer {
  readonly pieces: readonly Buffer[];
  readonly ending: 'keep' | 'end' | 'reset';
  /** Whether it answers once it has the head of the request, without its body. */
  readonly isEarly: boolean;
}

const BODIES = [
  '{"referenceNumber":"7b0f4e0e","status":"pending","code":"NOT_NOW","message":"m"}',
  '',
  '{',
  '<html>',
  'HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}',
  'x'.repeat(6_000),
];
const STATUSES = [200, 201, 204, 299, 301, 307, 400, 401, 408, 421, 422, 429, 500, 503, 999];
const FRAMINGS: readonly ((body: string) => string)[] = [
  (body) => `content-length: ${body.length}\r\n\r\n${body}`,
  (body) => `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  (body) => `\r\n${body}`,
  (body) => `content-length: ${body.length + 1}\r\n\r\n${body}`,
  (body) => `content-length: 0\r\n\r\n${body}`,
  (body) => `content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n\r\n${body}`,
  (body) => `transfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
];
const HEADERS = [
  'content-type: application/json\r\n',
  'retry-after: 0\r\n',
  'location: http://127.0.0.1:1/elsewhere\r\n',
  'content-encoding: gzip\r\n',
  'connection: close\r\n',
  `x-too-long: ${'x'.repeat(20_000)}\r\n`,
  'no colon\r\n',
  'x-folded: a\r\n b\r\n',
  'x nul: a\0b\r\n',
];
const PREFIXES = [
  '',
  '',
  '',
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
  '\r\n',
  'SSH-2.0\r\n',
];

const mutate: readonly ((bytes: Buffer, at: number) => Buffer)[] = [
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from([at % 256]), bytes.subarray(at)]),
  (bytes, at) => Buffer.concat([bytes, bytes.subarray(at)]),
  (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
];

const answers: fc.Arbitrary<Answer> = fc
  .record({
    prefix: fc.constantFrom(...PREFIXES),
    status: fc.constantFrom(...STATUSES),
    headers: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.subarray(HEADERS, { maxLength: 2 }) },
    ),
    body: fc.constantFrom(...BODIES),
    frame: fc.constantFrom(...FRAMINGS),
    mutation: fc.option(fc.tuple(fc.constantFrom(...mutate), fc.nat(100_000)), { freq: 2 }),
    cut: fc.nat(100_000),
    ending: fc.constantFrom('keep' as const, 'end' as const, 'end' as const, 'reset' as const),
    isEarly: fc.constantFrom(false, false, false, true),
  })
  .map(({ prefix, status, headers, body, frame, mutation, cut, ending, isEarly }) => {
    const text = `${prefix}HTTP/1.1 ${status} Text\r\n${headers.join('')}${frame(body)}`;
    const whole = Buffer.from(text, 'latin1');
    const [change, at] = mutation ?? [(bytes: Buffer) => bytes, 0];
    const bytes = change(whole, at % (whole.length + 1));
    const place = cut % (bytes.length + 1);
    return { pieces: [bytes.subarray(0, place), bytes.subarray(place)], ending, isEarly };
  });

const calls = fc.record({
  // Whether the service recognises repetitions, so that what may have been processed is sent again.
  isRecognised: fc.constantFrom(false, false, true),
  answers: fc.array(answers, { minLength: 3, maxLength: 3 }),
});

/** Whatever bytes a server answers with, a call ends, by what is true or by "unknown". */
export async function fuzzCalls(options: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  const said: unknown[] = [];
  const note = (what: unknown): void => void said.push(what);
  const events = ['unhandledRejection', 'uncaughtException', 'warning'] as const;
  for (const event of events) process.on(event, note);
  try {
    const cases = await checkBatches({
      ...options,
      arbitrary: calls,
      batchSize: 64,
      async check(batch) {
        await Promise.all(batch.map((call) => checkCall(call, tally)));
        assert.deepEqual(said.splice(0), [], 'the process said');
      },
    });
    return { cases, counts: tally.counts };
  } finally {
    for (const event of events) process.off(event, note);
  }
}

interface Seen {
  /** Whether all of the request was received: only then may the server have done what it asks. */
  complete: boolean;
  written: string;
}

async function checkCall(
  { isRecognised, answers: scripts }: { isRecognised: boolean; answers: readonly Answer[] },
  tally: Tally,
): Promise<void> {
  const requests: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket, requests, scripts);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new PaymentClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
    apiSecret: 'secret',
    maxResponseBytes: 4_096,
    // Many of the answers never end.
    timeoutMs: 500,
    ...(isRecognised && { idempotency: 'merchantPaymentReference' }),
  });
  const order = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };
  const error: unknown = await client.payments.create(order).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await client.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  tally.add(expectTruth(error, requests, isRecognised));
}

/** Writes the next answer to each request; what comes after it on the same connection is a further request. */
function serve(socket: Socket, requests: Seen[], scripts: readonly Answer[]): void {
  let bytes = '';
  let current: Seen | undefined;
  socket.setEncoding('latin1').on('data', (chunk) => {
    bytes += chunk;
    const head = bytes.indexOf('\r\n\r\n');
    if (head === -1) return;
    const script = scripts[current === undefined ? requests.length : requests.indexOf(current)];
    if (current === undefined) {
      current = { complete: false, written: '' };
      requests.push(current);
      if (script?.isEarly) void write(socket, script, current);
    }
    const length = Number(/content-length: (\d+)/i.exec(bytes)?.[1]);
    if (bytes.length < head + 4 + length) return;
    current.complete = true;
    if (script !== undefined && !script.isEarly) void write(socket, script, current);
    bytes = bytes.slice(head + 4 + length);
    current = undefined;
  });
}

async function write(socket: Socket, { pieces, ending }: Answer, seen: Seen): Promise<void> {
  for (const piece of pieces) {
    if (!socket.writable) return;
    seen.written += piece.toString('latin1');
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (ending === 'reset') socket.resetAndDestroy();
  else if (ending === 'end') socket.end();
}

/** Throws unless what the call ended by agrees with what the server received and wrote. */
function expectTruth(error: unknown, requests: readonly Seen[], isRecognised: boolean): string {
  const written = (seen: Seen | undefined, status: RegExp): boolean =>
    [...(seen?.written ?? '').matchAll(/HTTP\/\d\.\d (\d{3})/g)].some(([, s = '']) =>
      status.test(s),
    );
  assert(requests.length <= 3, `${requests.length} requests`);
  for (const seen of requests.slice(0, -1)) {
    const mayRetry = isRecognised || !seen.complete || written(seen, /429/);
    assert(mayRetry, `sent again after ${JSON.stringify(seen.written.slice(0, 99))}`);
  }
  if (error === undefined) {
    assert(written(requests.at(-1), /^2/), 'resolved without a success');
    return 'resolved';
  }
  assert(error instanceof MerchantPaymentsError, `not an error of the package: ${error}`);
  const { requestOutcome: outcome, safeToRetry, code } = error;
  const said = `${code}, ${outcome}`;
  if (outcome === 'not-sent') assert(!requests.some(({ complete }) => complete), said);
  else if (outcome === 'accepted')
    assert(
      requests.some((seen) => written(seen, /^2/)),
      said,
    );
  else if (outcome === 'rejected') {
    assert(
      requests.every((seen) => !seen.complete || written(seen, /^4(?!08|99)/)),
      said,
    );
  } else assert.equal(outcome, 'unknown');
  assert(!(safeToRetry && (outcome === 'unknown' || outcome === 'accepted')), said);
  return said;
}
