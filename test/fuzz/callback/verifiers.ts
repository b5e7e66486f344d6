import assert from 'node:assert/strict';
import type { CallbackRequest } from '../../../src/callback/options.js';
import { createCallbackVerifier } from '../../../src/callback/verify.js';
import { createCallbackVerifier as createWebVerifier } from '../../../src/callback/web/verify.js';
import { CallbackVerificationError } from '../../../src/errors.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';
import { type Delivery, deliveries } from './deliveries.js';
import { type OracleVerdict, startOracle } from './oracle.js';
import { profiles, toOptions } from './profiles.js';
import { toRequest } from './requests.js';

const MAX_BODY_BYTES = 65_536;

/** Everything that decides whether a callback is genuine must decide as Python does. */
export async function fuzzVerifiers(options: FuzzOptions): Promise<FuzzResult> {
  const oracle = startOracle(profiles);
  const judges = profiles.map(createJudges);
  const judgesOf = ({ profile }: Delivery) => judges[profile] as Judges;
  const tally = new Tally();
  try {
    const cases = await checkBatches({
      ...options,
      arbitrary: deliveries,
      batchSize: 400,
      async check(batch) {
        const received = batch.map((delivery) => ({ delivery, ...toRequest(delivery) }));
        const verdicts = await oracle.judge(received.map(({ forOracle }) => forOracle));
        const byWebCrypto = await Promise.all(
          received.map(({ delivery, request }) => outcomeOf(() => judgesOf(delivery).web(request))),
        );
        for (const [index, { delivery, request, forOracle }] of received.entries()) {
          const verdict = verdicts[index] as OracleVerdict;
          const { node, receive } = judgesOf(delivery);
          expectVerdict('WebCrypto', byWebCrypto[index] as Outcome, verdict);
          expectVerdict('node:crypto', await outcomeOf(() => node(request)), verdict);
          expectReply(await receive(request), verdict, Buffer.byteLength(forOracle.body));
          tally.add(verdict.codes.length === 0 ? 'accepted' : verdict.codes.join(' or '));
        }
      },
    });
    return { cases, counts: tally.counts };
  } finally {
    await oracle.close();
  }
}

interface Judges {
  node(request: CallbackRequest): { secretIndex: number };
  web(request: CallbackRequest): Promise<{ secretIndex: number }>;
  receive(request: CallbackRequest): Promise<Received>;
}

interface Received {
  readonly status: number;
  readonly outcome: string;
  readonly secretIndexes: readonly number[];
}

function createJudges(profile: (typeof profiles)[number], index: number): Judges {
  const options = toOptions(profile, index);
  let secretIndexes: number[] = [];
  const receiver = createCallbackReceiver({
    ...options,
    maxBodyBytes: MAX_BODY_BYTES,
    // What was processed before is not the question here.
    store: {
      async process(_event, work) {
        await work({
          tx: undefined,
          signal: new AbortController().signal,
          order: 'order-1',
          current: true,
          secondPayment: false,
        });
        return { outcome: 'processed' };
      },
    },
    onPayment: ({ secretIndex }) => void secretIndexes.push(secretIndex),
    onError: () => undefined,
    onRejected: () => undefined,
  });
  return {
    node: createCallbackVerifier(options),
    web: createWebVerifier(options),
    async receive(request) {
      secretIndexes = [];
      const { status, outcome } = await receiver.receive({ method: 'POST', ...request });
      return { status, outcome, secretIndexes };
    },
  };
}

type Outcome = { readonly secretIndex: number } | { readonly code: string };

async function outcomeOf(
  verify: () => { secretIndex: number } | Promise<{ secretIndex: number }>,
): Promise<Outcome> {
  try {
    const { secretIndex } = await verify();
    return { secretIndex };
  } catch (error) {
    if (error instanceof CallbackVerificationError) return { code: error.code };
    throw error;
  }
}

function expectVerdict(
  name: string,
  outcome: Outcome,
  { codes, secretIndex }: OracleVerdict,
): void {
  if ('secretIndex' in outcome) {
    assert.deepEqual(codes, [], `${name} accepts what Python refuses`);
    assert.equal(outcome.secretIndex, secretIndex, `${name} names another secret`);
  } else {
    assert(codes.length > 0, `${name} refuses what Python accepts: ${outcome.code}`);
    assert(codes.includes(outcome.code), `${name}: ${outcome.code} instead of ${codes}`);
  }
}

function expectReply(
  reply: Received,
  { codes, secretIndex }: OracleVerdict,
  bodyBytes: number,
): void {
  const accepted = codes.length === 0 && bodyBytes <= MAX_BODY_BYTES;
  assert.deepEqual(
    reply,
    accepted
      ? { status: 200, outcome: 'processed', secretIndexes: [secretIndex] }
      : { ...refusal(codes, bodyBytes), secretIndexes: [] },
    `the receiver, where Python says ${codes}`,
  );
}

function refusal(codes: readonly string[], bodyBytes: number): { status: number; outcome: string } {
  if (bodyBytes > MAX_BODY_BYTES) return { status: 413, outcome: 'rejected' };
  if (codes.includes('RAW_BODY_REQUIRED')) return { status: 500, outcome: 'failed' };
  return { status: codes.includes('INVALID_RECORD') ? 422 : 401, outcome: 'rejected' };
}
