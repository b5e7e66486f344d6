import { expect, test } from 'vitest';
import { runCommand, startMock } from './run-command.js';

test('a fault is added, listed and cleared', async () => {
  await using mock = await startMock();
  expect(await mock.run('fault', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no faults are pending\n',
  });
  const added = await mock.run(
    ...['fault', 'add', 'request', 'delay', '--set', 'delayMs=5', '--times', '3'],
    ...['--match', 'method=POST', '--match', 'path=/api/payments'],
  );
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(added.stdout).toBe(
    [
      'id  on       type   times left  match                           fields',
      ' 1  request  delay           3  method=POST path=/api/payments  delayMs=5\n',
    ].join('\n'),
  );
  expect((await mock.run('fault', 'list')).stdout).toBe(added.stdout);
  const cleared = await mock.run('fault', 'clear');
  expect(cleared).toMatchObject({
    code: 0,
    stdout: '1 fault removed\n',
    stderr: 'no faults are pending\n',
  });
  expect(await mock.json('fault', 'list')).toEqual({ faults: [] });
});

test('--json is the answer of the control interface', async () => {
  await using mock = await startMock();
  const expected = {
    faults: [
      {
        id: '1',
        on: 'request',
        type: 'client-error',
        times: 'unlimited',
        match: { method: 'POST' },
        status: 409,
        body: { a: 1 },
      },
    ],
  };
  const added = await mock.json(
    ...['fault', 'add', 'request', 'client-error', '--set', 'body={"a":1}'],
    ...['--times', 'unlimited', '--match', 'method=POST'],
  );
  expect(added).toEqual(expected);
  expect(await mock.json('fault', 'list')).toEqual(expected);
  expect(await mock.json('fault', 'clear')).toEqual({ faults: [] });
});

test.each([
  [['request'], '<type> is missing'],
  [['requests', 'delay'], 'the target must be one of request, callback'],
  [['request', 'dely'], 'did you mean delay?'],
  [['request', 'delay', '--match', 'status=paid'], '--match status is not a field'],
])('add %j is refused with exit code 2', async (args, message) => {
  const ended = await runCommand(['fault', 'add', ...args]);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(ended.stderr).toContain(message);
});

test.each([
  [['request', 'delay'], 'fault.delayMs is missing'],
  [['request', 'delay', '--set', 'delayMs=-1'], 'fault.delayMs must be'],
  [['callback', 'drop', '--match', 'attempt=0'], 'fault.match.attempt must be'],
])('the mock refuses %j, and names the field', async (args, message) => {
  await using mock = await startMock();
  const ended = await mock.run('fault', 'add', ...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(ended.stderr).toContain(`merchant-payments: ${message}`);
  expect(await mock.json('fault', 'list')).toEqual({ faults: [] });
});
