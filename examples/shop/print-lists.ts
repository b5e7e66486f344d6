import { client, pool } from './database.js';
import { readAttention, readUnpaid } from './lists.js';

for (const item of await readAttention()) {
  console.dir({ ...item, rawBody: undefined }, { depth: null }); // bodies are personal data
}
console.log('Not paid:', await readUnpaid());
await client.close();
await pool.end();
