import { describe, expect, it } from 'vitest';
import {
  checkAccepted,
  checkRefused,
  describeAnswer,
} from '../../../src/testing/endpoint-check/answer.js';

const answered = (status: number) => ({ latencyMs: 1, status });
const NO_ANSWER = { latencyMs: 1, failure: 'ECONNRESET' };

describe('a callback that should be refused', () => {
  it.each([400, 401, 403, 404, 413, 422, 499])('is by %i', (status) => {
    expect(checkRefused('it', answered(status)).outcome).toBe('passed');
  });

  it.each([
    [200, /as if the service had sent it/],
    [202, /as if the service had sent it/],
    [302, /a redirect, which is not followed/],
    [429, /rate limit/],
    [500, /should have refused it with 401/],
    [503, /should have refused it with 401/],
  ])('is not by %i', (status, says) => {
    const { outcome, detail } = checkRefused('it', answered(status));
    expect(outcome).toBe('failed');
    expect(detail).toMatch(says);
  });

  it('is not by silence', () => {
    const { outcome, detail } = checkRefused('it', NO_ANSWER);
    expect(outcome).toBe('failed');
    expect(detail).toMatch(/did not answer \(ECONNRESET\)/);
  });
});

describe('a callback that should be accepted', () => {
  it.each([200, 201, 204, 299])('is by %i', (status) => {
    expect(checkAccepted('it', answered(status)).outcome).toBe('passed');
  });

  it.each([
    [302, /redirect, which is not followed/],
    [401, /answered 401$/],
    [429, /rate limit/],
    [500, /answered 500$/],
  ])('is not by %i', (status, says) => {
    const { outcome, detail } = checkAccepted('it', answered(status));
    expect(outcome).toBe('failed');
    expect(detail).toMatch(says);
  });

  it('is not by silence', () => {
    expect(checkAccepted('it', NO_ANSWER).outcome).toBe('failed');
    expect(describeAnswer(NO_ANSWER)).toBe('did not answer (ECONNRESET)');
  });
});
