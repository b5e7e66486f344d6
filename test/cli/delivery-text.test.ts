import { expect, test } from 'vitest';
import { describeDelivery } from '../../src/cli/delivery-text.js';
import type {
  ControlAttempt,
  ControlDelivery,
} from '../../src/mock-server/control/control-types.js';

function describe(
  state: ControlDelivery['state'],
  attempts: readonly Partial<ControlAttempt>[] = [],
) {
  const delivery = { id: 'd1', state, attempts } as unknown as ControlDelivery;
  return describeDelivery(delivery, (_style, text) => text);
}

const attempt: Partial<ControlAttempt> = {
  attempt: 1,
  copy: 0,
  url: 'http://127.0.0.1:1/\u001b',
  outcome: 'refused',
  response: { status: 500, body: '' },
  latencyMs: 12.4,
};

test.each<[ControlDelivery['state'], string]>([
  ['not-configured', 'no callback was sent, because the mock has no callback URL'],
  ['held', 'a reorder fault holds the callback'],
  ['sending', 'the callback is being sent'],
  ['retrying', 'the callback will be retried'],
  ['acknowledged', 'the endpoint accepted the callback'],
  ['given-up', 'the callback was not accepted, and will not be retried'],
  ['cancelled', 'the callback was cancelled'],
])('a delivery that is %s says so', (state, words) => {
  expect(describe(state)).toEqual(['delivery d1', expect.stringContaining(words)]);
});

test('each attempt is a line, copies told apart', () => {
  const lines = describe('given-up', [attempt, { ...attempt, copy: 2, fault: 'duplicate' }]);
  expect(lines.slice(1, 3)).toEqual([
    'attempt 1 to http://127.0.0.1:1/\\x1b: refused, HTTP 500, 12 ms',
    'attempt 1 (copy 2) to http://127.0.0.1:1/\\x1b: refused, HTTP 500, 12 ms, fault duplicate',
  ]);
});

test('an attempt that was never sent took no time', () => {
  const dropped = { ...attempt, outcome: 'dropped', response: undefined, fault: 'drop' } as const;
  expect(describe('retrying', [dropped])[1]).toMatch(/: dropped, fault drop$/);
});

test('the next attempt is that of the last one that has one', () => {
  const lines = describe('retrying', [
    { ...attempt, nextRetryAt: 'early' },
    { ...attempt, nextRetryAt: 'late' },
    { ...attempt, copy: 1 },
  ]);
  expect(lines.at(-1)).toBe('the callback will be retried at late');
});

test('of a refusal the beginning of what was answered is shown', () => {
  const refused = { ...attempt, response: { status: 500, body: `\n${'x'.repeat(400)}` } };
  expect(describe('given-up', [refused])[2]).toBe(`  answer: \\n${'x'.repeat(299)}`);
  const taken = { ...refused, outcome: 'acknowledged' } as const;
  expect(describe('acknowledged', [taken])).toHaveLength(3);
});
