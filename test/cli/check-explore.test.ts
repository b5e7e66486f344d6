import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { bundle } from '../bundle.js';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { runCommand, startCommand } from './command-process.js';
import { secretEnv, signingSecret, spellingsOf, startMerchant } from './merchant-server.js';

const check = (...args: readonly string[]) => runCommand(['check', ...args], secretEnv);

test('a correct endpoint passes the schedules of a seed, and what was left out is named', async () => {
  await using merchant = await startMerchant();
  const effects = new URL('/effects', merchant.url).href;
  const args = [merchant.url, '--effect-url', effects, '--explore', '6', '--seed', '7'];
  const text = await check(...args);
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout.replaceAll('\n', ' ')).toMatch(
    /^6 schedules of seed 7 passed in [\d.]+ s at http.* left out {2}restarts: /,
  );
  const json = await check(...args, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ passed: true, seed: 7, schedules: 6, ran: 6 });
});

/** An endpoint in its own process, which starts again whenever it ends. */
async function superviseForgetful() {
  mkdirSync('test-artifacts', { recursive: true });
  const folder = path.resolve(mkdtempSync('test-artifacts/explored-'));
  const port = await reserveClosedPort();
  let isOver = false;
  const start = () => {
    const child = spawn(
      process.execPath,
      ['test/cli/forgetful-endpoint.mjs', folder, String(port)],
      { env: secretEnv, stdio: 'inherit' },
    );
    child.once('exit', () => {
      if (!isOver) running = start();
    });
    return child;
  };
  let running = start();
  onTestFinished(async () => {
    isOver = true;
    running.kill('SIGKILL');
    if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
    rmSync(folder, { recursive: true });
  });
  while (!existsSync(`${folder}/pid`)) await sleep(20);
  const pid = `"$(cat '${folder}/pid')"`;
  return {
    folder,
    url: `http://127.0.0.1:${port}/callbacks`,
    effects: `http://127.0.0.1:${port}/effects`,
    restart: `old=${pid}; kill -9 "$old"; while [ ${pid} = "$old" ]; do sleep 0.02; done`,
  };
}

test('what a restart breaks is shrunk to a script, runs again, and prints as a test that runs', {
  timeout: 240_000,
}, async () => {
  const { folder, url, effects, restart } = await superviseForgetful();
  const common = ['--effect-url', effects, '--restart-command', restart, '--effects-within', '50'];
  const found = await check(url, ...common, '--explore', '3', '--seed', '2', '--json');
  expect(found).toMatchObject({ code: 1, stderr: '' });
  const report = JSON.parse(found.stdout);
  const script = [
    { do: 'deliver', payment: 1, change: 'paid' },
    { do: 'restart' },
    { do: 'deliver', payment: 1, change: 'paid' },
  ];
  expect(report.failure).toMatchObject({ invariant: 'once', script });
  expect(report.leftOut).toEqual([expect.stringMatching(/^the status .* none$/)]);

  const again = await check(url, ...common, '--replay', JSON.stringify(script));
  expect(again).toMatchObject({ code: 1, stderr: '' });
  expect(again.stdout).toContain('\n  1. deliver paid of payment 1\n  2. restart the endpoint\n');
  expect(again.stdout).toContain(`--replay '${JSON.stringify(script)}'\n`);
  const file = path.join(folder, 'report.json');
  writeFileSync(file, found.stdout);
  const fromReport = await check(url, ...common, '--replay', file, '--json');
  expect(JSON.parse(fromReport.stdout)).toMatchObject({ failure: { invariant: 'once', script } });

  const pasted = path.join(folder, 'found.test.ts');
  writeFileSync(pasted, report.test);
  await bundle({ 'found.test': pasted }, folder);
  const program = path.join(folder, 'found.test.js');
  const environment = { PATH: process.env['PATH'], ...secretEnv };
  const runTest = () =>
    new Promise<{ code: unknown; stdout: string }>((resolve) =>
      execFile(process.execPath, [program], { env: environment }, (error, stdout) =>
        resolve({ code: error?.code ?? 0, stdout }),
      ),
    );
  const failed = await runTest();
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain(
    'countEffects returned 2 effects for payment 1, whose callbacks of paid were acknowledged, but 1 was expected',
  );
  writeFileSync(path.join(folder, 'remember'), '');
  expect(await runTest()).toMatchObject({ code: 0, stdout: expect.stringMatching(/# pass 1\n/) });
  for (const { stdout } of [found, again, fromReport, failed]) {
    for (const spelling of spellingsOf(signingSecret)) expect(stdout).not.toContain(spelling);
  }
});

test('an interruption reports the seed', async () => {
  await using endpoint = await startEndpoint(() => undefined);
  const args = ['check', endpoint.url, '--effect-url', endpoint.url, '--explore', '3'];
  await using command = startCommand(args, secretEnv);
  await endpoint.waitFor(1);
  command.child.kill('SIGINT');
  const { code, stdout, stderr } = await command.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /the exploration was interrupted after 0 schedules of seed \d+ had passed\n$/,
  );
});

const URL_AND_EFFECTS = ['http://127.0.0.1:1/', '--effect-url=http://127.0.0.1:1/effects'];

test.each([
  [['http://127.0.0.1:1/', '--explore=1'], /--effect-url is missing/],
  [[...URL_AND_EFFECTS, '--explore=0'], /--explore: schedules must be a whole number from 1/],
  [[...URL_AND_EFFECTS, '--seed=1'], /--seed needs --explore or --replay/],
  [[...URL_AND_EFFECTS, '--restart-command=x'], /--restart-command needs --explore or --replay/],
  [[...URL_AND_EFFECTS, '--explore=1', '--junit=-'], /--junit is for the checks/],
  [[...URL_AND_EFFECTS, '--explore=1', '--overtaking'], /--overtaking is for the checks/],
  [[...URL_AND_EFFECTS, '--explore=1', '--reference=order'], /--reference must contain \{n\}/],
  [[...URL_AND_EFFECTS, '--replay=/nowhere'], /--replay must be a script in JSON, or a file/],
  [[...URL_AND_EFFECTS, '--replay=[}'], /--replay must be a script in JSON, or a file/],
  [[...URL_AND_EFFECTS, '--replay=[]'], /--replay: script must have 1 to 1000 steps; received 0/],
  [
    [...URL_AND_EFFECTS, '--replay=[{"do":"deliver","payment":0,"change":"paid"}]'],
    /script\[0\]\.payment must be a whole number from 1 to 100; received 0/,
  ],
  [[...URL_AND_EFFECTS, '--replay=[{"do":"restart"}]'], /--restart-command: restart is missing/],
  [
    [...URL_AND_EFFECTS, '--explore=1', '--replay=[{"do":"restart"}]'],
    /--explore: schedules can't be combined with script/,
  ],
])('refuses %j', async (args, message) => {
  const { code, stdout, stderr } = await check(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
