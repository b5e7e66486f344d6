import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type MockServer, type RequestFault, startMockServer } from 'merchant-payments/mock-server';
import { checkCallbackEndpoint } from 'merchant-payments/testing';
import pg from 'pg';
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest';

// Follows skills/merchant-payments/SKILL.md to the letter, in an empty folder with the tarball, and judges
// the shop that comes out: by check, by faults, and while its process is killed.

const skill = readFileSync('skills/merchant-payments/SKILL.md', 'utf8');

/** What the steps write and run, in their order. The last one starts the shop. */
const steps = [...skill.matchAll(/^(?:`([\w.]+)`:\n\n)?```(?:ts|sh)\n([\s\S]*?)^```$/gm)].map(
  ([, file, text = '']) => ({ file, text }),
);
const start = steps.pop()?.text ?? '';

const folder = mkdtempSync(path.join(tmpdir(), 'skill-'));
const schema = `skill_${randomUUID().replaceAll('-', '')}`;
const databaseUrl = new URL(process.env['DATABASE_URL'] ?? 'postgresql://none.invalid');
databaseUrl.searchParams.set('options', `-c search_path=${schema}`);
const env = { ...process.env, DATABASE_URL: databaseUrl.href };

/** Runs a step to its end. */
async function shell(script: string): Promise<void> {
  const run = promisify(execFile)('bash', ['-ec', script], { cwd: folder, env });
  await run.catch(({ stdout, stderr }) => {
    throw new Error(`${script} failed:\n${stdout}\n${stderr}`);
  });
}

let pool: pg.Pool;
let service: MockServer;
let shop: ChildProcess;
let shopUrl = 'http://127.0.0.1:0';

async function startShop(): Promise<void> {
  // What the mock prints.
  const variables = {
    MERCHANT_PAYMENTS_BASE_URL: service.url,
    MERCHANT_PAYMENTS_API_KEY: service.apiKey,
    MERCHANT_PAYMENTS_API_SECRET: service.apiSecret,
    MERCHANT_PAYMENTS_SIGNING_SECRET: service.signingSecret,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(path.join(folder, '.env'), lines.join(''));
  shop = spawn('bash', ['-c', `exec ${start}`], {
    cwd: folder,
    env: { ...env, PORT: new URL(shopUrl).port || '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  assert(shop.stdout);
  [shopUrl] = await once(createInterface({ input: shop.stdout }), 'line');
  service.callbackUrl = `${shopUrl}/callbacks/payments`;
}

/** A click on "Pay": the state that the shop answers with; nothing when it was killed meanwhile. */
const click = (reference: string) =>
  fetch(`${shopUrl}/orders/${reference}`, { method: 'POST' }).then(
    (answer) => answer.text(),
    () => undefined,
  );

const paymentsOf = (reference: string) =>
  service.payments.list().filter((one) => one.merchantPaymentReference === reference);

async function query(sql: string, reference: string): Promise<Record<string, unknown>[]> {
  return (await pool.query(sql, [reference])).rows;
}
async function store(reference: string): Promise<void> {
  await query('INSERT INTO orders (reference) VALUES ($1)', reference);
}
const countShipments = async (reference: string) =>
  (await query('SELECT FROM shipments WHERE reference = $1', reference)).length;

/** Lets the customer pay, and waits until the shop has acknowledged it. */
async function pay(reference: string): Promise<void> {
  const { referenceNumber = '' } = paymentsOf(reference)[0] ?? {};
  const [delivery] = await Promise.all([
    service.waitForDelivery(
      { referenceNumber, status: 'paid', acknowledged: true },
      { timeoutMs: 60_000 },
    ),
    service.setStatus(referenceNumber, 'paid'),
  ]);
  expect(delivery.response?.status).toBe(200);
}

async function expectOneShipment(reference: string): Promise<void> {
  expect(paymentsOf(reference)).toHaveLength(1);
  expect(await countShipments(reference)).toBe(1);
  // Sends nothing any more.
  expect(await click(reference)).toBe('created');
  expect(paymentsOf(reference)).toHaveLength(1);
}

describe.skipIf(process.env['DATABASE_URL'] === undefined)('the shop of the skill', () => {
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: databaseUrl.href });
    await pool.query(`CREATE SCHEMA ${schema}`);
    service = await startMockServer({ retryScheduleMs: Array(100).fill(100) });
    const tarball = process.env['PACKED_TARBALL'] ?? '';
    for (const { file, text } of steps) {
      if (file !== undefined) writeFileSync(path.join(folder, file), text);
      // Its own test is among them.
      else await shell(text.replace(/(?<=npm install )merchant-payments/, tarball));
    }
    await startShop();
  });
  afterAll(async () => {
    shop?.kill('SIGKILL');
    await service.close();
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
    rmSync(folder, { recursive: true });
  });

  test('passes every check of its endpoint', async () => {
    const { checks } = await checkCallbackEndpoint(service.callbackUrl ?? '', {
      signingSecret: service.signingSecret,
      merchantPaymentReference: async () => {
        const reference = randomUUID();
        await store(reference);
        return reference;
      },
      overtaking: true,
      countEffects: async ({ merchantPaymentReference: reference }) => {
        const [order] = await query('SELECT status FROM orders WHERE reference = $1', reference);
        return {
          effects: await countShipments(reference),
          status: (order?.['status'] ?? undefined) as string | undefined,
        };
      },
      effectCounts: 'paid',
    });
    const open = checks.filter(({ outcome }) => outcome !== 'passed');
    expect(open.map(({ id, outcome }) => [id, outcome])).toEqual([]);
  });

  test.each<{ payments: number; fault: RequestFault }>([
    { payments: 1, fault: { on: 'request', type: 'unauthorized' } },
    { payments: 1, fault: { on: 'request', type: 'client-error', status: 422 } },
    { payments: 1, fault: { on: 'request', type: 'lost-answer' } },
    // Whether the service has it is not known: a person looks it up.
    { payments: 0, fault: { on: 'request', type: 'server-error' } },
  ])(
    'has one payment at most after $fault.type and three clicks, and ships it once',
    async ({ payments, fault }) => {
      const reference = randomUUID();
      service.faults.add(fault);
      await click(reference);
      await Promise.all([click(reference), click(reference)]);
      expect(service.faults.pending()).toEqual([]);
      expect(paymentsOf(reference)).toHaveLength(payments);
      if (payments === 0) return expect(await click(reference)).toBe('unresolved');
      service.faults.add({ on: 'callback', type: 'drop' });
      service.faults.add({ on: 'callback', type: 'duplicate', mode: 'at-once' });
      await pay(reference);
      return expectOneShipment(reference);
    },
  );
});
