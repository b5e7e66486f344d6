// A merchant's process with one receiver. Its parent says what happens to the next runs of the work.
import { createServer, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { receivers } from './receivers.mjs';

const [name, databaseUrl] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 8 });
pool.on('error', () => undefined);
const plans = [];
let diesBeforeAnswer = false;

/** The merchant's work for a change: the order's status, and a shipment once it is paid. */
async function work({ reference, status }, { tx = pool, current = true } = {}) {
  const { delayMs = 0, fails = false, dies } = plans.shift() ?? {};
  diesBeforeAnswer = dies === 'before the answer';
  if (status === 'paid') await tx.query('INSERT INTO shipments VALUES ($1)', [reference]);
  if (dies === 'in the work') process.kill(process.pid, 'SIGKILL');
  await sleep(delayMs);
  if (fails) throw new Error('the database is down');
  if (current)
    await tx.query('UPDATE orders SET status = $2 WHERE reference = $1', [reference, status]);
}

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (...head) {
  if (diesBeforeAnswer) process.kill(process.pid, 'SIGKILL');
  return writeHead.apply(this, head);
};

process.on('message', (added) => plans.push(...added));
process.on('disconnect', () => process.exit());
const server = createServer(await receivers[name].listener({ work, pool }));
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
