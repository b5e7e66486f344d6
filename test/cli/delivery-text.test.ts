import type { ControlAttempt, ControlDelivery } from 'merchant-payments/mock-server';
import { expect, test } from 'vitest';
import type { Terminal } from '../../src/cli/command.js';
import { printDelivery } from '../../src/cli/delivery-text.js';

function print(state: ControlDelivery['state'], attempts: readonly Partial<ControlAttempt>[] = []) {
  let text = '';
  const stdout = { write: (part: string) => (text += part) };
  const delivery = { id: 'd1', state, attempts } as unknown as ControlDelivery;
  printDelivery(delivery, { stdout } as unknown as Terminal);
  return text.split('\n').slice(0, -1);
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
  ['not-configured', 'no callback was sent, since the mock has no callback URL'],
  ['held', 'kept back by a reorder fault'],
  ['sending', 'the callback is being sent'],
  ['retrying', 'the callback will be sent again'],
  ['acknowledged', 'the endpoint took the callback'],
  ['given-up', 'the callback was not taken, and will not be sent again'],
  ['cancelled', 'the callback was called off'],
])('a delivery that is %s says so', (state, words) => {
  expect(print(state)).toEqual(['delivery d1', expect.stringContaining(words)]);
});

test('each attempt is a line, copies told apart', () => {
  const lines = print('given-up', [attempt, { ...attempt, copy: 2, fault: 'duplicate' }]);
  expect(lines.slice(1, 3)).toEqual([
    'attempt 1 to http://127.0.0.1:1/\\x1b: refused, HTTP 500, 12 ms',
    'attempt 1 (copy 2) to http://127.0.0.1:1/\\x1b: refused, HTTP 500, 12 ms, fault duplicate',
  ]);
});

test('an attempt that was never sent took no time', () => {
  const dropped = { ...attempt, outcome: 'dropped', response: undefined, fault: 'drop' } as const;
  expect(print('retrying', [dropped])[1]).toMatch(/: dropped, fault drop$/);
});

test('the next attempt is that of the last one that has one', () => {
  const lines = print('retrying', [
    { ...attempt, nextRetryAt: 'early' },
    { ...attempt, nextRetryAt: 'late' },
    { ...attempt, copy: 1 },
  ]);
  expect(lines.at(-1)).toBe('the callback will be sent again at late');
});

test('of a refusal the beginning of what was answered is shown', () => {
  const refused = { ...attempt, response: { status: 500, body: `\n${'x'.repeat(400)}` } };
  expect(print('given-up', [refused])[2]).toBe(`  it answered: \\n${'x'.repeat(299)}`);
  const taken = { ...refused, outcome: 'acknowledged' } as const;
  expect(print('acknowledged', [taken])).toHaveLength(3);
});
