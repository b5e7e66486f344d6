import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PaymentClient } from 'merchant-payments';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../services/throwaway-server.js';

// The recipe of the image and the compose file: by Docker where it answers, and everywhere by their
// commands, in an empty folder.

const run = promisify(execFile);
const tarball = process.env['PACKED_TARBALL'] ?? '';
const folder = mkdtempSync(path.join(tmpdir(), 'image-'));
afterAll(() => rmSync(folder, { recursive: true }));

const recipe = readFileSync('examples/docker/Dockerfile', 'utf8').replaceAll('\\\n', '');
const instruction = (name: string) =>
  new RegExp(`^${name} (.*)$`, 'm').exec(recipe)?.[1] ?? expect.fail(`no ${name}`);
const entrypoint: readonly string[] = JSON.parse(instruction('ENTRYPOINT'));
const health: readonly string[] = JSON.parse(
  /CMD (.*)$/.exec(instruction('HEALTHCHECK'))?.[1] ?? '',
);
const port = instruction('EXPOSE');

const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

describe('the commands of the image', () => {
  const env = { ...process.env, PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}` };

  /** Runs it as the container does, on a free port of this machine. */
  async function startContainer(args: readonly string[]): Promise<Running> {
    const free = await findFreePort();
    const [command = '', ...rest] = entrypoint;
    const child = spawn(command, [...rest, ...args, '--port', String(free)], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, port: free };
  }

  function isHealthy({ port: mapped }: Pick<Running, 'port'>): boolean {
    const [command = '', ...args] = health;
    const MERCHANT_PAYMENTS_MOCK_URL = `http://127.0.0.1:${mapped}`;
    const { status } = spawnSync(command, args, { env: { ...env, MERCHANT_PAYMENTS_MOCK_URL } });
    return status === 0;
  }

  beforeAll(async () => {
    const PACKAGE = tarball;
    await run('sh', ['-c', instruction('RUN')], {
      env: { ...env, PACKAGE, npm_config_prefix: folder },
    });
  });

  test('are healthy once the mock answers, and end as docker stop asks', async () => {
    expect(isHealthy({ port: await findFreePort() })).toBe(false);
    const container = await startContainer([]);
    while (!isHealthy(container)) expect(container.child.exitCode).toBeNull();
    const client = new PaymentClient({
      baseUrl: `http://127.0.0.1:${container.port}`,
      apiKey: 'mock_api_key',
      apiSecret: 'mock_api_secret',
    });
    expect((await client.payments.create(order)).payment).toMatchObject({ status: 'pending' });
    await client.close();
    container.child.kill('SIGTERM');
    expect(await once(container.child, 'exit')).toEqual([0, null]);
  });
});

const hasDocker = spawnSync('docker', ['version', '--format', '{{.Server.Version}}']).status === 0;

describe.runIf(hasDocker)('the image', () => {
  const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim();

  test('is built, gets healthy, creates a payment, and stops by itself', async () => {
    const server = createServer((_request, answer) => answer.end(readFileSync(tarball)));
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const packed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/package.tgz`;
    const build = ['build', '--network', 'host', '--build-arg', `PACKAGE=${packed}`, '--quiet'];
    const image = await docker(...build, 'examples/docker');
    const id = await docker('run', '--detach', '--publish', `127.0.0.1::${port}`, image);
    onTestFinished(async () => void (await docker('rm', '--force', id)));
    const inspect = (field: string) => docker('inspect', '--format', `{{.State.${field}}}`, id);
    while ((await inspect('Health.Status')) !== 'healthy') {
      expect(await inspect('Status')).toBe('running');
    }
    await using client = new PaymentClient({
      baseUrl: `http://${await docker('port', id, port)}`,
      apiKey: 'mock_api_key',
      apiSecret: 'mock_api_secret',
    });
    expect((await client.payments.create(order)).payment).toMatchObject({ status: 'pending' });
    await docker('stop', id);
    expect(await inspect('ExitCode')).toBe('0');
  });
});
