import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { secretEnv, serve, signingSecret, startMerchant } from './merchant-server.js';
import { runCommand } from './run-command.js';

describe('callback send', () => {
  const send = (url: string, ...args: readonly string[]) =>
    runCommand(['callback', 'send', url, ...args], secretEnv);

  test('sends a record, and prints what was sent and answered', async () => {
    await using merchant = await startMerchant();
    const { code, stdout, stderr } = await send(merchant.url, '--reference=order-1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(merchant.statuses).toEqual(['paid']);
    expect(stdout).toBe('← 200 order-1 paid, try 1\nthe endpoint answered as expected\n');
  });

  test('takes a request for a retry for what it is, as of an order that is not stored', async () => {
    await using merchant = await startMerchant(0, new Set(['order-1']));
    for (const args of [[], ['--fault=duplicate']]) {
      const early = await send(merchant.url, '--reference=order-2', ...args);
      expect(early).toMatchObject({ code: 0, stderr: '' });
      expect(early.stdout).toMatch(/^← 503 order-2 paid, try 1/);
      expect(early.stdout).toMatch(/the endpoint asks for a retry.*--reference of a stored order/);
    }
    expect((await send(merchant.url, '--reference=order-1')).stdout).toContain('← 200 order-1');
    expect((await send(merchant.url, '--fault=wrong-secret')).code).toBe(0);
    await using proxy = await startEndpoint(() => 503);
    expect(await send(proxy.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('answered 503, but a valid callback must be accepted'),
    });
  });

  test.each<[string, string[], number[], string[]]>([
    ['duplicate', ['--set=copies=2'], [200, 200, 200], ['paid']],
    ['reorder', [], [200, 200], ['paid', 'pending']],
    ['drop', [], [0, 200], ['paid']],
    ['tampered-body', [], [401], []],
    ['wrong-secret', [], [401], []],
  ])('with the fault %s %j the package answers %j', async (fault, args, statuses, acted) => {
    await using merchant = await startMerchant();
    const { code, stdout, stderr } = await send(
      merchant.url,
      '--json',
      `--fault=${fault}`,
      ...args,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { isAsExpected, sent } = JSON.parse(stdout);
    expect(isAsExpected).toBe(true);
    expect(sent.map((one: { response?: { status: number } }) => one.response?.status ?? 0)).toEqual(
      statuses,
    );
    expect(merchant.statuses).toEqual(acted);
  });

  test('with reorder the older change of the payment arrives last', async () => {
    await using endpoint = await startEndpoint();
    const { code } = await send(
      endpoint.url,
      '--fault=reorder',
      '--reference=r',
      '--status=settled',
    );
    expect(code).toBe(0);
    const records = endpoint.received.map(({ rawBody }) => JSON.parse(rawBody.toString()));
    expect(records.map(({ status }) => status)).toEqual(['settled', 'pending']);
    expect(new Set(records.map(({ referenceNumber }) => referenceNumber)).size).toBe(1);
    expect(records.every(({ merchantPaymentReference }) => merchantPaymentReference === 'r')).toBe(
      true,
    );
  });

  test('signs with the encoding it was given', async () => {
    await using endpoint = await startEndpoint();
    const { code } = await send(endpoint.url, '--signature-encoding=base64');
    // As the verifier takes any encoding of the signature.
    expect(code).toBe(0);
    const [received] = endpoint.received;
    const signed = `${received?.headers['x-timestamp']}.${received?.rawBody}`;
    const digest = createHmac('sha256', signingSecret).update(signed).digest('base64');
    expect(received?.headers['x-signature']).toBe(digest);
  });

  test.each([
    [[], 500, /answered 500, but a valid callback must be accepted with 2xx/],
    [['--fault=duplicate'], 409, /answered 409.*and 1 more answers were not/],
    [['--fault=wrong-secret'], 200, /answered 200, but a forged callback must be refused with 4xx/],
    [['--fault=tampered-body'], 500, /must be refused/],
    [['--fault=wrong-secret'], 429, /must be refused/],
  ])('with %j an answer of %i is a failure, in one line', async (args, status, message) => {
    await using endpoint = await startEndpoint(() => status);
    const { code, stdout, stderr } = await send(endpoint.url, ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stdout).toContain(`← ${status} `);
    expect(stdout).not.toContain('answered as expected');
    const { stdout: json } = await send(endpoint.url, '--json', ...args);
    expect(JSON.parse(json).isAsExpected).toBe(false);
  });

  test.each([
    [[503, 200], 0],
    [[503, 503], 1],
    [[200, 409], 1],
  ])(
    'copies may be answered 503 while another is accepted: %j, exit code %i',
    async (answers, code) => {
      await using endpoint = await startEndpoint((count) => answers[count - 1]);
      expect(await send(endpoint.url, '--fault=duplicate')).toMatchObject({ code });
      expect(endpoint.received).toHaveLength(2);
    },
  );

  test('the endpoint is closed, or does not answer in time', async () => {
    const closed = await send(`http://127.0.0.1:${await reserveClosedPort()}/`);
    expect(closed.code).toBe(1);
    expect(closed.stderr).toContain('did not answer (ECONNREFUSED)');
    await using silent = await startEndpoint(() => undefined);
    for (const args of [[], ['--fault=wrong-secret']]) {
      const late = await send(silent.url, '--timeout=200', ...args);
      expect(late.code).toBe(1);
      expect(late.stderr).toContain('did not answer (timed-out)');
    }
  });

  test('follows no redirect, and shows an answer escaped and cut', async () => {
    await using server = await serve((_request, response) => {
      // It never ends.
      response.writeHead(307, { location: '/elsewhere' }).write(`\u001b[2J${'x'.repeat(100_000)}`);
    });
    const { code, stdout } = await send(server.url);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^← 307 .*: \\x1b\[2Jxxx/);
    expect(stdout.length).toBeLessThan(3_000);
  });

  test.each([
    [['http://127.0.0.1:1/', '--fault=nonsense'], /there is no fault "nonsense"/],
    [['http://127.0.0.1:1/', '--fault=drop', '--set=x=1'], /--set x is not a field/],
    [
      ['http://127.0.0.1:1/', '--fault=duplicate', '--set=copies=0'],
      /copies must be a whole number/,
    ],
    [['http://127.0.0.1:1/', '--set=copies=3'], /give --fault too/],
    [['http://127.0.0.1:1/', '--fault=drop', '--reference= '], /did not accept --reference/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['callback', 'send', ...args], secretEnv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});
