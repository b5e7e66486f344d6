import assert from 'node:assert/strict';
import fc from 'fast-check';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { ApiError, MerchantPaymentsError, ResponseError } from '../../../src/errors.js';
import { watchProcess } from '../process-watch.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';
import { readableStatuses } from './answer-heads.js';
import {
  type AnsweringServer,
  type SeenRequest,
  startAnsweringServer,
} from './answering-server.js';
import { type Answer, answers, MAX_RESPONSE_BYTES } from './answers.js';

/** A call and what each of its requests is answered with. */
interface CallScript {
  readonly maxRetries: 0 | 1 | 2;
  readonly answers: readonly Answer[];
}

/** Calls in turn on one client, which may use its connection again. */
interface ClientScript {
  /** Whether the service recognises repetitions, so that what may have been processed is sent again. */
  readonly isRecognised: boolean;
  readonly calls: readonly CallScript[];
}

const clientScripts: fc.Arbitrary<ClientScript> = fc.record({
  isRecognised: fc.constantFrom(false, false, false, true),
  calls: fc.array(
    fc.record({
      maxRetries: fc.constantFrom<0 | 1 | 2>(0, 0, 0, 1, 2),
      answers: fc.array(answers, { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

// Long enough that it never ends a call whose answer is plain, short where the server may stall.
const PATIENT_MS = 30_000;
const IMPATIENT_MS = 300;
// On a machine that is busy with other things a call ends so much later than its deadline, at most.
const LATE_MS = 20_000;

/** Whatever bytes a server answers with, a call ends, by what is true or by "unknown". */
export async function fuzzCalls(options: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  const watch = watchProcess();
  const random = Math.random;
  // Retries at once.
  Math.random = () => 0;
  let calls = 0;
  try {
    await checkBatches({
      ...options,
      arbitrary: clientScripts,
      batchSize: 64,
      async check(batch) {
        const ended = await runBatch(batch);
        for (const call of ended) expectTruth(call, tally);
        watch.assertQuiet();
        calls += ended.length;
        return ended.length;
      },
    });
    return { cases: calls, counts: tally.counts };
  } finally {
    Math.random = random;
    watch.stop();
  }
}

/** Whether an answer that the call can come to may keep it waiting. */
const canStall = ({ answers: written, maxRetries }: CallScript): boolean =>
  written.slice(0, 1 + maxRetries).some(({ mayStall }) => mayStall);

interface EndedCall {
  readonly script: CallScript;
  readonly isRecognised: boolean;
  readonly requests: readonly SeenRequest[];
  readonly result: Result;
}

type Result =
  | { readonly status: number; readonly body: unknown; readonly attempts: number }
  | { readonly error: unknown };

async function runBatch(batch: readonly ClientScript[]): Promise<readonly EndedCall[]> {
  const scripts = new Map<string, CallScript>();
  const server = await startAnsweringServer((call, earlierRequests) => {
    const answer = scripts.get(call)?.answers[earlierRequests];
    if (answer === undefined) throw new RangeError(`no answer for request ${earlierRequests}`);
    return answer;
  });
  const running = batch.map((script, index) => runClient(script, index, server, scripts));
  const ended = await Promise.all(running);
  // A cancelled request may still be on its way.
  await new Promise((resolve) => setImmediate(resolve));
  await server.close();
  return ended.flat().map(({ name, ...call }) => ({
    ...call,
    requests: server.requests.filter((request) => request.call === name),
  }));
}

async function runClient(
  { isRecognised, calls }: ClientScript,
  index: number,
  { url }: AnsweringServer,
  scripts: Map<string, CallScript>,
) {
  const client = new PaymentClient({
    baseUrl: url,
    apiKey: 'key',
    apiSecret: 'secret',
    ...(isRecognised && { idempotency: 'merchantPaymentReference' }),
    maxResponseBytes: MAX_RESPONSE_BYTES,
  });
  const ended: (Omit<EndedCall, 'requests'> & { name: string })[] = [];
  for (const [turn, script] of calls.entries()) {
    const name = `${index}-${turn}`;
    scripts.set(name, script);
    const timeoutMs = canStall(script) ? IMPATIENT_MS : PATIENT_MS;
    const startedAt = performance.now();
    const result = await client.payments
      .create(
        { merchantPaymentReference: name, amount: 1, currency: 'EUR' },
        {
          headers: { 'x-call': name },
          maxRetries: script.maxRetries,
          timeoutMs,
        },
      )
      .then(
        ({ response: { status, body, attempts } }): Result => ({ status, body, attempts }),
        (error: unknown): Result => ({ error }),
      );
    const lateMs = performance.now() - startedAt - timeoutMs;
    assert(lateMs < LATE_MS, `ended ${Math.round(lateMs)} ms after its deadline`);
    ended.push({ name, script, isRecognised, result });
  }
  await client.close();
  return ended;
}

function expectTruth(call: EndedCall, tally: Tally): void {
  const { result, requests } = call;
  const statuses = requests.map(readableStatuses);
  expectAllowedRequests(call, statuses);
  if ('error' in result) {
    const { error } = result;
    assert(error instanceof MerchantPaymentsError, `not an error of the package: ${error}`);
    const outcome = error.requestOutcome;
    expectOutcome(outcome, requests, statuses);
    const mayExist = outcome === 'unknown' || outcome === 'accepted';
    assert(!(error.safeToRetry && mayExist), `safe to retry, though ${outcome}`);
    tally.add(`${error.code}, ${outcome}`);
  } else {
    const last = statuses.at(-1) ?? [];
    assert(last.includes(result.status), `resolved with ${result.status}, written: ${last}`);
    expectAttempts(result.attempts, call, requests.length);
    tally.add('resolved');
  }
  if (requests.every(({ writtenBefore }) => writtenBefore.length === 0)) expectPlain(call, tally);
}

/** A request that never left the machine is an attempt too, and only a retry can follow it. */
function expectAttempts(attempts: number, { script }: EndedCall, seen: number): void {
  assert(attempts >= seen, `${attempts} attempts, ${seen} requests`);
  assert(attempts <= 1 + script.maxRetries, `${attempts} attempts`);
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
const isRejection = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 499;

function expectOutcome(
  outcome: string | undefined,
  requests: readonly SeenRequest[],
  statuses: readonly (readonly number[])[],
): void {
  switch (outcome) {
    case 'not-sent':
      assert(!requests.some(({ complete }) => complete), 'not-sent, but the server has it');
      return;
    case 'rejected':
      for (const [index, { complete }] of requests.entries()) {
        const rejected = statuses[index]?.some(isRejection);
        assert(rejected || !complete, `rejected, written: ${statuses[index]}`);
      }
      return;
    case 'accepted':
      assert(statuses.flat().some(isSuccess), `accepted, written: ${statuses}`);
      return;
    default:
      assert.equal(outcome, 'unknown');
  }
}

function expectAllowedRequests(
  { script, isRecognised, requests }: EndedCall,
  statuses: readonly (readonly number[])[],
): void {
  const most = 1 + script.maxRetries;
  assert(requests.length <= most, `${requests.length} requests, ${most} allowed`);
  for (const [index, known] of statuses.slice(0, -1).entries()) {
    const mayRetry = isRecognised || known.includes(429) || !requests[index]?.complete;
    assert(mayRetry, `sent again after ${known.length === 0 ? 'no answer' : known}`);
  }
}

/** A page in place of an answer says nothing about the payment. Its head or its body, which may come in chunks, tells. */
const mayBePage = ({ pieces, validBody = 'html' }: Answer): boolean =>
  /html/i.test(Buffer.concat([...pieces]).toString('latin1') + validBody);

/** Where the last answer leaves no doubt, the call ended by it. */
function expectPlain({ script, requests, result }: EndedCall, tally: Tally): void {
  const last = script.answers[requests.length - 1];
  const status = last?.validStatus;
  if (last === undefined || status === undefined) return;
  // Its short deadline may have ended the call.
  if (canStall(script)) return;
  tally.add('held to a plain answer');
  if (isSuccess(status)) {
    if (mayBePage(last) && 'error' in result) {
      assert(result.error instanceof ResponseError, `a page was written, but: ${result.error}`);
      assert.equal(result.error.requestOutcome, 'unknown');
      return;
    }
    assert('status' in result, `${status} was written, but: ${'error' in result && result.error}`);
    assert.equal(result.status, status);
    return;
  }
  assert('error' in result, `${status} was written, but the call succeeded`);
  assert(result.error instanceof ApiError, `${status} was written, but: ${result.error}`);
  assert.equal(result.error.httpStatus, status);
}
