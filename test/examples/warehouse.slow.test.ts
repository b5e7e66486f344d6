import { expect, it, vi } from 'vitest';
import { deliver, type OrderState, RefusedError } from '../../examples/queues/warehouse.js';
import { startWarehouse } from './warehouse.js';

const paid = { status: 'paid', isPaid: true };
const refunded = { status: 'refunded', isPaid: true };

it('tells the warehouse last what the order needs last', async () => {
  await using warehouse = await startWarehouse();
  vi.stubEnv('WAREHOUSE_URL', warehouse.url);
  const states: OrderState[] = [paid, refunded, refunded];
  expect(await deliver('order/1', async () => states.shift() ?? refunded)).toBe('cancelled');
  expect(warehouse.toldOf('order/1')).toEqual(['PUT 200', 'DELETE 200']);
});

it.each([
  [422, true],
  [404, false],
  [503, false],
])('on a %i needs a person: %s', async (status, needsPerson) => {
  await using warehouse = await startWarehouse();
  vi.stubEnv('WAREHOUSE_URL', warehouse.url);
  warehouse.answer('order', () => status);
  const error: unknown = await deliver('order', async () => paid).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(error instanceof RefusedError).toBe(needsPerson);
  expect((error as Error).message).toBe(`order is not shipped: the warehouse answered ${status}`);
});
