import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createManualClock,
  type MockServer,
  startMockServer,
} from '../../src/mock-server/index.js';
import { control, readState } from './control/control-client.js';
import { createPayment, order, postPayment } from './merchant-client.js';
import { isSigned, parseBody, startEndpoint } from './merchant-endpoint.js';

let folder: string;
let stateFile: string;
beforeEach(async ({ onTestFinished }) => {
  folder = await mkdtemp(path.join(tmpdir(), 'state-'));
  // After the mocks of the test have closed, which write to it.
  onTestFinished(() => rm(folder, { recursive: true }));
  stateFile = path.join(folder, 'mock.json');
});

/** What a merchant sees of the mock. */
async function whatIsShown(server: MockServer) {
  const { payments, requests, deliveries, counts } = await readState(server);
  return { payments, requests, deliveries, counts };
}

test('a file that can not be written is a warning, and the mock goes on', async ({
  onTestFinished,
}) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => void warn.mockRestore());
  const server = await startMockServer({ stateFile: path.join(folder, 'no-folder', 'mock.json') });
  expect((await postPayment(server)).status).toBe(201);
  await server.close();
  expect(warn.mock.calls).toEqual([
    [
      expect.stringContaining('failed with ENOENT'),
      { type: 'MockServerWarning', code: 'MOCK_STATE' },
    ],
  ]);
});

describe('after a restart with the same file', () => {
  test('payments are still there long after the mock was closed, in a process that lives on', async () => {
    const first = await startMockServer({ stateFile });
    await createPayment(first);
    await first.close();
    // Writes its file later than the first would have written once more.
    const other = path.join(folder, 'other.json');
    await using later = await startMockServer({ stateFile: other });
    await createPayment(later);
    await expect.poll(() => existsSync(other)).toBe(true);
    await using second = await startMockServer({ stateFile });
    expect(second.payments.list()).toHaveLength(1);
  });

  test('payments, requests and callbacks are as they were, and pending callbacks are sent', async () => {
    const clock = createManualClock({ now: 1_769_860_800_000 });
    await using endpoint = await startEndpoint((count) => (count < 3 ? 503 : 200));
    const options = {
      stateFile,
      clock,
      seed: 7,
      callbackUrl: endpoint.url,
      retryScheduleMs: [1_000, 60_000],
    };
    const first = await startMockServer(options);
    const referenceNumber = await createPayment(first);
    await createPayment(first);
    await postPayment(first, { ...order, amount: 'many' });
    await first.pay(referenceNumber);
    first.faults.add({ on: 'callback', type: 'reorder' });
    await first.setStatus(referenceNumber, 'refunded');
    await clock.advance(1_000);
    const before = await whatIsShown(first);
    await first.close();

    await using second = await startMockServer(options);
    expect(await whatIsShown(second)).toEqual(before);
    expect(before.deliveries.map(({ state }) => state)).toEqual(['held', 'retrying']);
    await clock.advance(59_999);
    expect(endpoint.received).toHaveLength(2);
    await clock.advance(1);
    expect(endpoint.received).toHaveLength(3);
    expect(second.deliveries.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'refused'],
      [2, 'refused'],
      [3, 'acknowledged'],
    ]);
    expect(endpoint.received.every((one) => isSigned(one, second.signingSecret))).toBe(true);
    // Numbers go on, and what a reorder fault held is still held.
    const next = await createPayment(second, { ...order, merchantPaymentReference: 'next' });
    expect(before.payments.map((one) => one.referenceNumber)).not.toContain(next);
    await second.setStatus(referenceNumber, 'chargeback');
    expect(endpoint.received.slice(3).map((one) => parseBody(one)['status'])).toEqual([
      'chargeback',
      'refunded',
    ]);
  });

  test('an automatic status comes when it is due, and a moved clock is still ahead', async () => {
    const first = await startMockServer({
      stateFile,
      autoStatus: 'paid',
      autoStatusAfterMs: 500_000,
    });
    const referenceNumber = await createPayment(first);
    const createdAt = Date.now();
    await control(first, 'POST', '/clock/advance', { ms: 400000 });
    await first.close();
    await using second = await startMockServer({
      stateFile,
      autoStatus: 'paid',
      autoStatusAfterMs: 500_000,
    });
    expect(Date.parse((await readState(second)).now)).toBeGreaterThanOrEqual(createdAt + 400_000);
    expect(second.payments.get(referenceNumber)?.status).toBe('pending');
    await control(second, 'POST', '/clock/advance', { ms: 100000 });
    expect(second.payments.get(referenceNumber)?.status).toBe('paid');
  });

  test('what was written before a kill is there, and a reset is kept too', async () => {
    await using first = await startMockServer({ stateFile });
    await createPayment(first);
    await expect.poll(() => readFile(stateFile, 'utf8').catch(() => '')).toContain('order-1');
    // As a process that is killed leaves it.
    await writeFile(`${stateFile}.copy`, await readFile(stateFile));
    await using second = await startMockServer({ stateFile: `${stateFile}.copy` });
    expect(second.payments.list()).toMatchObject([{ merchantPaymentReference: 'order-1' }]);
    second.reset();
    await second.close();
    await using third = await startMockServer({ stateFile: `${stateFile}.copy` });
    expect(third.payments.list()).toEqual([]);
  });
});

test.each(['', 'no json', '[]', '{"format":2}', '{"format":1}'])(
  'a file that holds %j is refused, and stays',
  async (content) => {
    await writeFile(stateFile, content);
    await expect(startMockServer({ stateFile })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'stateFile',
      message: expect.stringContaining('delete it, or name another file'),
    });
    expect(await readFile(stateFile, 'utf8')).toBe(content);
  },
);
