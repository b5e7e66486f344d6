import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest';
import { readBlocks } from '../docs/snippets/blocks.js';
import { findFreePort } from '../services/throwaway-server.js';

// Follows docs/order-from-checkout-to-paid.md as it is in the tarball, in an empty folder: only what the
// guide shows is written, and only what it installs is there.

const GUIDE = 'docs/order-from-checkout-to-paid.md';
const DOCUMENTED_URL = 'http://127.0.0.1:3000';

const folder = mkdtempSync(path.join(tmpdir(), 'guide-'));
const database = `guide_${randomUUID().replaceAll('-', '')}`;
const serverUrl = process.env['DATABASE_URL'];
const databaseUrl = new URL(serverUrl ?? 'postgresql://none.invalid');
databaseUrl.pathname = database;

const processes: ChildProcess[] = [];
const admin = new pg.Client({ connectionString: serverUrl });
const shopDatabase = new pg.Client({ connectionString: databaseUrl.href });
let env: Record<string, string | undefined> = {};
let shopUrl = '';
let mockUrl = '';
let buy = '';

/** Runs a step of the guide to its end. */
async function shell(script: string): Promise<string> {
  const run = promisify(execFile)('bash', ['-ec', script], { cwd: folder, env });
  const { stdout } = await run.catch(({ stdout, stderr }) => {
    throw new Error(`${script} failed:\n${stdout}\n${stderr}`);
  });
  return stdout;
}

/** Starts a program of the guide, and gives the address in the first line that has one. */
async function start(command: string): Promise<string> {
  // A group of its own: npx ends without what it has started.
  const child = spawn('bash', ['-c', command], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  assert(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) {
    const [address] = /http:\/\/[\d.:]+/.exec(line) ?? [];
    if (address === undefined) continue;
    child.stdout.resume();
    return address;
  }
  return expect.fail(`${command} ended and gave no address`);
}

describe.skipIf(serverUrl === undefined)('the shop of the guide', () => {
  beforeAll(async () => {
    await admin.connect();
    await admin.query(`CREATE DATABASE ${database}`);
    await shopDatabase.connect();

    const tarball = process.env['PACKED_TARBALL'] ?? '';
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, `package/${GUIDE}`]);
    const blocks = readBlocks(path.join(folder, 'package', GUIDE));
    rmSync(path.join(folder, 'package'), { recursive: true });
    for (const { name, code } of blocks) {
      if (name !== undefined) writeFileSync(path.join(folder, name), code);
    }
    const scripts = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const [install = '', run = '', mock = '', curls = ''] = scripts;
    expect(scripts).toHaveLength(4);

    env = { ...process.env };
    await shell(install.replace(/(?<=npm install )merchant-payments/, tarball));

    // What the guide exports, but for the addresses: other programs may be at the usual ports.
    for (const [, name = '', value] of run.matchAll(/(\bMERCHANT_PAYMENTS_\w+)=(\S+)/g)) {
      env[name] = value;
    }
    mockUrl = `http://127.0.0.1:${await findFreePort()}`;
    Object.assign(env, {
      DATABASE_URL: databaseUrl.href,
      MERCHANT_PAYMENTS_BASE_URL: mockUrl,
      MERCHANT_PAYMENTS_MOCK_URL: mockUrl,
      PORT: String(await findFreePort()),
    });
    const [applySchema = '', startShop = ''] = run.trim().split('\n').slice(-2);
    expect(applySchema).toBe('psql "$DATABASE_URL" -f schema.sql');
    await shopDatabase.query(readFileSync(path.join(folder, 'schema.sql'), 'utf8'));
    shopUrl = await start(startShop);
    const { port } = new URL(mockUrl);
    expect(mock).toContain(`${DOCUMENTED_URL}/callbacks/payments`);
    const startMock = `${mock.trim().replace(DOCUMENTED_URL, shopUrl)} --port ${port}`;
    expect(await start(startMock)).toBe(mockUrl);
    buy = curls.replaceAll(DOCUMENTED_URL, shopUrl);
  });

  afterAll(async () => {
    const ended = processes.map((child) => {
      const closed = once(child, 'close');
      assert(child.pid);
      process.kill(-child.pid, 'SIGTERM');
      return closed;
    });
    await Promise.all(ended);
    await shopDatabase.end();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
    rmSync(folder, { recursive: true });
  });

  test('ships an order once it is paid', async () => {
    const output = await shell(buy);
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual({
      status: 'paid',
      isPaid: true,
      payment: 'created',
    });
    const shipped = await shopDatabase.query('SELECT * FROM shipments');
    expect(shipped.rows).toEqual([{ merchant_payment_reference: 'order-1' }]);
  });

  test('compiles', async () => {
    const options =
      '--strict --noEmit --skipLibCheck --target es2022 --module nodenext --types node';
    await shell(`npx tsc ${options} *.ts`);
  });
});
