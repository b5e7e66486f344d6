// Run while the moved shop runs without CREATE_BY=store, before the old shop replaces it: tells the old code of the
// payments that the store created. Exits with 1 while there are others, for which the old code would send a second one.

import { database } from './orders.js';
import { client, store } from './store.js';

const unknown = database.prepare(
  'SELECT reference FROM orders WHERE in_store = 1 AND reference_number IS NULL',
);
const setNumber = database.prepare('UPDATE orders SET reference_number = ? WHERE reference = ?');

for (const { reference } of unknown.all() as { reference: string }[]) {
  const stored = await store.get(reference);
  const number = stored?.state === 'created' ? stored.payment?.referenceNumber : undefined;
  if (number !== undefined) {
    setNumber.run(number, reference);
  } else {
    console.log(`${reference} is ${stored?.state}`);
    process.exitCode = 1;
  }
}
await client.close();
database.close();
