import assert from 'node:assert/strict';
import { verifyCallback } from '../../../src/callback/verify.js';
import { CallbackVerificationError } from '../../../src/errors.js';
import { diagnoseCallback } from '../../../src/testing/diagnosis/diagnose-callback.js';
import { deliveries } from '../callback/deliveries.js';
import { profiles, toOptions } from '../callback/profiles.js';
import { toRequest } from '../callback/requests.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';

const options = profiles.map(toOptions);

/** A diagnosis has the verdict of verifyCallback, and something to say where that refuses. */
export async function fuzzDiagnoses(fuzzOptions: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  const cases = await checkBatches({
    ...fuzzOptions,
    arbitrary: deliveries,
    batchSize: 20,
    async check(batch) {
      for (const delivery of batch) {
        const { request } = toRequest(delivery);
        const verifierOptions = options[delivery.profile] as (typeof options)[number];
        const { verified, error, findings } = diagnoseCallback(request, verifierOptions);
        assert.equal(
          error?.code,
          refusalCode(() => verifyCallback(request, verifierOptions)),
        );
        assert.equal(verified, error === undefined);
        assert.equal(findings.length === 0, verified);
        tally.add(findings[0]?.code ?? 'verified');
      }
    },
  });
  return { cases, counts: tally.counts };
}

function refusalCode(verify: () => unknown): string | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    if (error instanceof CallbackVerificationError) return error.code;
    throw error;
  }
}
