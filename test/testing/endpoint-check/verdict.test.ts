import { expect, it } from 'vitest';
import { checkAccepted, checkRefused } from '../../../src/testing/endpoint-check/answer.js';

// The outcome of an answer to what must be accepted, and to what must be refused.
it.each([
  [200, 'passed', 'failed', /as if the service had sent it/],
  [299, 'passed', 'failed', /as if the service had sent it/],
  [302, 'failed', 'failed', /a redirect, which is not followed/],
  [400, 'failed', 'passed', /./],
  [429, 'failed', 'failed', /rate limit/],
  [499, 'failed', 'passed', /./],
  [500, 'failed', 'failed', /should have refused it with 401/],
])('%i is %s for a valid callback, and %s for a forged one', (status, valid, forged, says) => {
  const answer = { latencyMs: 1, status };
  expect(checkAccepted('it', answer).outcome).toBe(valid);
  expect(checkRefused('it', answer)).toMatchObject({
    outcome: forged,
    detail: expect.stringMatching(says),
  });
});

it('silence neither accepts nor refuses', () => {
  const none = { latencyMs: 1, failure: 'ECONNRESET' };
  for (const check of [checkAccepted, checkRefused]) {
    expect(check('it', none)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('did not answer (ECONNRESET)'),
    });
  }
});
