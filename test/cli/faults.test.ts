import { expect, test } from 'vitest';
import { reserveClosedPort } from '../mock-server/merchant-endpoint.js';
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
      'ID  ON       TYPE   TIMES LEFT  MATCH                           FIELDS',
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
        on: 'callback',
        type: 'extra-field',
        times: 'unlimited',
        match: { attempt: 2 },
        value: { a: 1 },
      },
    ],
  };
  const added = await mock.json(
    ...['fault', 'add', 'callback', 'extra-field', '--set', 'value={"a":1}'],
    ...['--times', 'unlimited', '--match', 'attempt=2'],
  );
  expect(added).toEqual(expected);
  expect(await mock.json('fault', 'list')).toEqual(expected);
  expect(await mock.json('fault', 'clear')).toEqual({ faults: [] });
});

test('one fault is removed by the id of the list', async () => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'request', 'hang');
  await mock.run('fault', 'add', 'request', 'unauthorized');
  const removed = await mock.run('fault', 'remove', '1');
  expect(removed).toMatchObject({ code: 0, stderr: '' });
  expect(removed.stdout).toMatch(/^fault 1 removed\nID .*\n 2 {2}request {2}unauthorized /);
  expect(await mock.run('fault', 'remove', '1')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'merchant-payments: There is no fault "1"\n',
  });
  expect(await mock.json('fault', 'list')).toMatchObject({ faults: [{ id: '2' }] });
});

test('a fault is given as JSON', async () => {
  await using mock = await startMock();
  const fault = '{"on":"callback","type":"extra-field","value":{"a":[1]},"times":2}';
  const { stdout } = await mock.run('fault', 'add', '--fault-json', fault);
  expect(stdout).toMatch(/callback {2}extra-field +2 {2}- +value={"a":\[1\]}\n$/);
});

test('text in a fault cannot control the terminal', async () => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'callback', 'unknown-status', '--set', 'status=\u001b[2J');
  const { stdout } = await mock.run('fault', 'list');
  expect(stdout).toContain('status=\\x1b[2J');
});

test.each([
  [['request'], '<type> is missing'],
  [[], '<request|callback> is missing'],
  [['requests', 'delay'], 'the target must be one of request, callback'],
  [['request', 'dely'], 'did you mean delay?'],
  [['request', 'delay', '--times', '0'], '--times must be a whole number from 1'],
  [['request', 'delay', '--match', 'status=paid'], '--match status is not a field'],
  [['--fault-json', '{'], '--fault-json must be JSON'],
  [['--fault-json', '{"value":[1e999]}'], '--fault-json has the number 1e999, which'],
  [['--fault-json', '{"on":"request","on":"callback"}'], '--fault-json has the field "on" twice'],
  [
    ['callback', 'extra-field', '--set', 'value={"a":12345678901234567890}'],
    '--set value has the number 12345678901234567890, which would be sent as 12345678901234567000',
  ],
  [['request', '--fault-json', '{}'], '--fault-json holds the whole fault'],
  [['--times', '2', '--fault-json', '{}'], '--fault-json holds the whole fault'],
  [['--set', 'a=1', '--fault-json', '{}'], '--fault-json holds the whole fault'],
  [['--match', 'a=1', '--fault-json', '{}'], '--fault-json holds the whole fault'],
])('add %j is refused with exit code 2', async (args, message) => {
  const ended = await runCommand(['fault', 'add', ...args]);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(ended.stderr).toContain(message);
});

test.each([
  [['--fault-json', '{}'], '--fault-json: fault.on is missing; it must be one of'],
  [['--fault-json', '{"on":"request","type":"hang","times":0}'], '--fault-json: fault.times must'],
  [['request', 'delay'], '--set delayMs=…: fault.delayMs is missing'],
  [['request', 'delay', '--set', 'delayMs=-1'], '--set delayMs=…: fault.delayMs must be'],
  [['callback', 'drop', '--match', 'attempt=0'], '--match attempt=…: fault.match.attempt must be'],
])('the mock refuses %j by the name of the flag, with exit code 2', async (args, message) => {
  await using mock = await startMock();
  const ended = await mock.run('fault', 'add', ...args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(ended.stderr).toContain(`merchant-payments: ${message}`);
  expect(await mock.json('fault', 'list')).toEqual({ faults: [] });
});

test('a failure that is not due to the command line keeps exit code 1', async () => {
  const port = await reserveClosedPort();
  const ended = await runCommand(['fault', 'add', 'request', 'hang'], {
    MERCHANT_PAYMENTS_MOCK_URL: `http://127.0.0.1:${port}`,
  });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
});
