import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../services/throwaway-server.js';

// Follows docs/order-from-checkout-to-paid.md as it is in the tarball, in an empty folder: only what the
// guide shows is written, and only what it installs is there.

const GUIDE = 'docs/order-from-checkout-to-paid.md';

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

/** A call of the mock's control interface. */
async function control(target: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${mockUrl}/_mock/${target}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${target}: ${answer.status}`).toBe(true);
  return (await answer.json()) as Record<string, unknown>;
}

describe.skipIf(serverUrl === undefined)('the shop of the guide', () => {
  beforeAll(async () => {
    await admin.connect();
    await admin.query(`CREATE DATABASE ${database}`);
    await shopDatabase.connect();

    const tarball = process.env['PACKED_TARBALL'] ?? '';
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, `package/${GUIDE}`]);
    const guide = readFileSync(path.join(folder, 'package', GUIDE), 'utf8');
    rmSync(path.join(folder, 'package'), { recursive: true });

    const files = guide.matchAll(/^`([\w./-]+)`[^\n]*:\n\n```\w+\n([\s\S]*?)^```$/gm);
    for (const [, name = '', text = ''] of files) {
      mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const scripts = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    const [install = '', run = '', mock = ''] = scripts;
    expect(scripts).toHaveLength(3);

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
      PORT: '0',
    });
    const [applySchema = '', startShop = ''] = run.trim().split('\n').slice(-2);
    expect(applySchema).toBe('psql "$DATABASE_URL" -f schema.sql');
    await shopDatabase.query(readFileSync(path.join(folder, 'schema.sql'), 'utf8'));
    shopUrl = await start(startShop);
    const callbackUrl = 'http://127.0.0.1:3000';
    expect(mock).toContain(`${callbackUrl}/callbacks/payments`);
    const { port } = new URL(mockUrl);
    const startMock = `${mock.trim().replace(callbackUrl, shopUrl)} --port ${port}`;
    expect(await start(startMock)).toBe(mockUrl);
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

  test('shows its page, and ships an order once it is paid', async () => {
    const page = await (await fetch(shopUrl)).text();
    const [, reference = ''] = /name="reference" value="([\da-f-]{36})"/.exec(page) ?? [];
    expect((await fetch(`${shopUrl}/page.js`)).status).toBe(200);

    const click = await fetch(`${shopUrl}/orders`, {
      method: 'POST',
      body: new URLSearchParams({ reference }),
      redirect: 'manual',
    });
    expect(click.headers.get('location')).toBe(`/orders/${reference}`);
    expect((await fetch(`${shopUrl}/orders/${reference}`)).status).toBe(200);

    const { payments } = await control('payments');
    expect(payments).toMatchObject([{ merchantPaymentReference: reference }]);
    const [{ referenceNumber }] = payments as [{ referenceNumber: string }];
    await control(`payments/${referenceNumber}/status`, { status: 'paid' });

    const shipped = await shopDatabase.query('SELECT reference FROM shipments');
    expect(shipped.rows).toEqual([{ reference }]);
    const events = await fetch(`${shopUrl}/orders/${reference}/events`);
    assert(events.body);
    for await (const chunk of events.body) {
      expect(Buffer.from(chunk).toString()).toContain('"isPaid":true');
      break;
    }
  });

  test('prints the lists for staff', async () => {
    await shopDatabase.query(
      "INSERT INTO orders (reference, created_at) VALUES ('lost', now() - interval '2 days')",
    );
    const lists = await shell('npx tsx print-lists.ts');
    expect(lists).toContain('unresolved: []');
    expect(lists).toContain("reference: 'lost'");
  });

  test('compiles', async () => {
    const options =
      '--strict --noEmit --skipLibCheck --target es2022 --module nodenext --types node';
    await shell(`npx tsc ${options} *.ts`);
  });
});
