import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { signCallback } from 'merchant-payments/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readLines } from '../runtimes/child.js';
import { redisUrl } from './clients.js';
import { type HttpFront, startHttpFront } from './http-front.js';

const platform = process.arch === 'arm64' ? 'arm64' : '64';
const workerd = path.resolve(
  `test/runtimes/binaries/node_modules/@cloudflare/workerd-linux-${platform}/bin/workerd`,
);
const missing = !redisUrl || !existsSync(workerd);
if (redisUrl && missing) {
  console.log(
    'workerd: not installed (npm --prefix test/runtimes/binaries ci), its test is skipped',
  );
}

const secret = 'whsec_of_the_worker';
const prefix = `test-workerd-${randomUUID()}:`;

describe.skipIf(missing)('on workerd, without any module of Node', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-worker-'));
  let front: HttpFront;
  let server: ChildProcess;
  let endpoint: string;

  beforeAll(async () => {
    front = await startHttpFront(redisUrl);
    await build({
      entryPoints: [path.resolve('test/redis/worker.ts')],
      outfile: path.join(folder, 'worker.mjs'),
      bundle: true,
      format: 'esm',
      conditions: ['workerd', 'worker'],
      logLevel: 'error',
    });
    const bindings = Object.entries({ url: front.url, token: front.token, prefix, secret });
    const config = path.join(folder, 'config.capnp');
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "merchant", worker = .merchant),
    (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "merchant")],
);
const merchant :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-17",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  bindings = [${bindings.map(([name, text]) => `(name = "${name}", text = "${text}")`)}],
);`,
    );
    server = spawn(workerd, ['serve', config, '--control-fd=3'], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const [line] = await readLines(server.stdio[3] as Readable, 1);
    endpoint = `http://127.0.0.1:${(line as { port: number }).port}`;
  });
  afterAll(async () => {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    front.close();
    rmSync(folder, { recursive: true });
    const admin = new Redis(redisUrl);
    const keys = await admin.keys(`${prefix}*`);
    if (keys.length > 0) await admin.unlink(...keys);
    admin.disconnect();
  });

  // The second name is stored by its digest.
  test.each(['order-1', 'order 1, číslo'])(
    'a payment of %s is processed once',
    async (reference) => {
      const { rawBody, headers } = signCallback({
        payment: { merchantPaymentReference: reference, status: 'paid' },
        signingSecret: secret,
      });
      const deliver = async () => {
        const response = await fetch(endpoint, { method: 'POST', headers, body: rawBody });
        return response.json();
      };
      const answered = { status: 200, hasProcess: false };
      expect(await deliver()).toEqual({ ...answered, runs: ['paid'] });
      expect(await deliver()).toEqual({ ...answered, runs: [] });
    },
  );
});
