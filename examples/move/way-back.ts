// Tells the old code of the payments that the store created. Exits with 1 while it would send a second one, or lose one.

import { database, type Order } from './orders.js';
import { client, store } from './store.js';

const inStore = database.prepare('SELECT * FROM orders WHERE in_store = 1');
const setNumber = database.prepare('UPDATE orders SET reference_number = ? WHERE reference = ?');

for (const { reference, reference_number } of inStore.all() as Order[]) {
  const stored = await store.get(reference);
  const number = stored?.state === 'created' ? stored.payment?.referenceNumber : undefined;
  if (reference_number === null && number !== undefined) setNumber.run(number, reference);
  const problem =
    stored?.replacedBy !== undefined
      ? `has the further attempt ${stored.replacedBy}`
      : (reference_number ?? number) === undefined && `is ${stored?.state}`;
  if (problem) {
    console.log(`${reference} ${problem}`);
    process.exitCode = 1;
  }
}
await client.close();
database.close();
