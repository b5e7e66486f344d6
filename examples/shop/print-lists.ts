import { client, pool } from './database.js';
import { readLists } from './lists.js';

const { failedChanges, ...lists } = await readLists();
// Without the bodies, which are personal data.
const changes = failedChanges.map(({ rawBody, ...change }) => change);
console.dir({ ...lists, failedChanges: changes }, { depth: null });
await client.close();
await pool.end();
