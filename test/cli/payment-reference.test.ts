import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ControlClient, findPayment } from '../../src/cli/control-client.js';

/** A mock's list of payments in pages of one. */
async function startList(payments: readonly object[]) {
  const server = createServer((request, response) => {
    response.setHeader('x-merchant-payments', 'mock');
    const before = new URL(request.url ?? '', 'http://mock.test').searchParams.get('before');
    const index = Number(before ?? 0);
    const next = index + 1 < payments.length ? String(index + 1) : undefined;
    response.end(
      JSON.stringify({
        payments: payments.slice(index, index + 1),
        total: payments.length,
        next,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client: new ControlClient(new URL(`http://127.0.0.1:${port}`)),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const payment = (referenceNumber: string, merchantPaymentReference = 'order') => ({
  referenceNumber,
  merchantPaymentReference,
  status: 'created',
});

test('a payment is found on a later page', async () => {
  await using list = await startList([payment('a1'), payment('b1', 'mine'), payment('c1')]);
  expect(await findPayment(list.client, 'mine')).toMatchObject({ referenceNumber: 'b1' });
  expect(await findPayment(list.client, 'c')).toMatchObject({ referenceNumber: 'c1' });
});

test('what makes a word ambiguous may be on a later page', async () => {
  await using list = await startList([payment('a1'), payment('a2')]);
  await expect(findPayment(list.client, 'a')).rejects.toThrow(
    '"a" matches 2 payments; give one reference number: a1 (order, created); a2 (order, created)',
  );
});

test('of many candidates ten are named', async () => {
  await using list = await startList(
    Array.from({ length: 12 }, (_, index) => payment(`a${index}`)),
  );
  await expect(findPayment(list.client, 'a')).rejects.toThrow(
    /; a9 \(order, created\); and 2 more$/,
  );
});
