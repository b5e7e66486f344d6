import { PaymentClient } from 'merchant-payments';
import { sqliteStore } from 'merchant-payments/sqlite';
import { database } from './orders.js';

database.pragma('busy_timeout = 50'); // in milliseconds: a wait blocks the whole process
export const client = PaymentClient.fromEnv();
export const store = sqliteStore(database, { client });
await store.setup();
