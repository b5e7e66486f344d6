import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandLoaders } from '../../src/cli/registry.js';
import { runCommand, startCommand, startMock } from './run-command.js';

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await runCommand(['--version'])).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});

test('--help and -h help at each level', async () => {
  for (const flag of ['--help', '-h']) {
    const overview = await runCommand([flag]);
    expect(overview).toMatchObject({ code: 0, stderr: '' });
    for (const name of commandLoaders.keys()) expect(overview.stdout).toContain(name);
    const group = await runCommand(['payments', flag]);
    expect(group).toMatchObject({ code: 0, stderr: '' });
    expect(group.stdout).toBe(overview.stdout);
    const command = await runCommand(['payments', 'list', '--limit', '1', flag]);
    expect(command).toMatchObject({ code: 0, stderr: '' });
    expect(command.stdout).toMatch(/^Usage: merchant-payments payments list /);
  }
});

test('help and the name of a command print its help, as -v prints the version', async () => {
  for (const name of [['mock'], ['payments', 'show'], []]) {
    const [asked, flagged] = [
      await runCommand(['help', ...name]),
      await runCommand([...name, '-h']),
    ];
    expect(asked).toEqual({ ...flagged, code: 0 });
    expect(asked.stdout).toContain(`Usage: merchant-payments ${name.join(' ')}`);
  }
  expect((await runCommand(['-v'])).stdout).toBe((await runCommand(['--version'])).stdout);
});

test('without a command the help goes to stderr, with exit code 2', async () => {
  const { code, stdout, stderr } = await runCommand([]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Usage: merchant-payments <command>/);
});

test.each([
  [['moc'], 'unknown command moc; did you mean mock?'],
  [['payment', 'list'], 'unknown command payment; did you mean payments list?'],
  [['payments', 'lst'], 'unknown command payments lst; did you mean payments list?'],
  [['payments'], 'payments needs a subcommand: create, set-status, list, show'],
  [['--json', 'payments', 'list'], 'give the command first'],
  [['--api-key=hunter2', 'mock'], 'give the command first'],
  [[''], 'unknown command ; see --help'],
  [['\u001b[2J'], 'unknown command \\x1b[2J; see --help'],
  [['payments', 'list', '--limt', '1'], 'unknown option --limt; did you mean --limit?'],
])('%j is refused in a line, with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await runCommand(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('hunter2');
});

test('text from outside cannot control the terminal', async () => {
  await using mock = await startMock();
  const reference = 'a\u001b[2J\u009b\u202e\n';
  await mock.run(
    ...['payments', 'create', '--reference', reference, '--amount', '1', '--currency', 'EUR'],
  );
  const listed = await mock.run('payments', 'list');
  expect(listed.stdout).toContain('a\\x1b[2J\\x9b\\u202e\\n');
  const set = await mock.run('payments', 'set-status', reference, 'p\u001baid');
  expect(set.stdout).toMatch(/^a\\x1b\[2J\\x9b\\u202e\\n is p\\x1baid\n/);
  const json = await mock.run('payments', 'list', '--json');
  expect(JSON.parse(json.stdout).payments[0].merchantPaymentReference).toBe(reference);
  await mock.printed(/← not sent a\\x1b\[2J\\x9b\\u202e\\n p\\x1baid/);
  for (const { stdout } of [listed, set, json, mock.output]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});

test('a table that is wider than the terminal is a list, and nothing in it is cut', async () => {
  await using mock = await startMock();
  const path = `path=/${'x'.repeat(200)}`;
  await mock.run('fault', 'add', 'request', 'hang', '--match', path);
  const env = { MERCHANT_PAYMENTS_MOCK_URL: mock.url, NO_COLOR: '1' };
  const { stdout } = await startCommand(['fault', 'list'], { env, columns: 56 }).ended;
  expect(stdout).toBe(
    `id          1\non          request\ntype        hang\ntimes left  1\nmatch       ${path}\n`,
  );
  expect((await mock.run('fault', 'list')).stdout).toContain(path);
});

test('an error is wrapped on a terminal, and one line elsewhere', async () => {
  const line = ['payments', 'list', '--mock-url', 'http://127.0.0.1:1/'];
  const { stderr } = await startCommand(line, { columns: 60 }).ended;
  expect(stderr.split('\n').length).toBeGreaterThan(2);
  for (const one of stderr.split('\n')) expect(one.length).toBeLessThanOrEqual(60);
  expect((await runCommand(line)).stderr.split('\n')).toHaveLength(2);
});

test('JSON is indented on a terminal', async () => {
  await using mock = await startMock();
  const env = { MERCHANT_PAYMENTS_MOCK_URL: mock.url };
  const { stdout } = await startCommand(['fault', 'list', '--json'], { env, columns: 80 }).ended;
  expect(stdout).toBe('{\n  "faults": []\n}\n');
});
