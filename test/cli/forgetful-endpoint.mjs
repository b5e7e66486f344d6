// A merchant's endpoint that remembers in its memory which changes it processed, and keeps what it did in a
// file. Arguments: its folder, the port. With a file `remember` in the folder it looks into what it did.
import { createHmac } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , folder, port] = process.argv;
const ledger = `${folder}/ledger`;
const processed = new Set(
  existsSync(`${folder}/remember`) ? readFileSync(ledger, 'utf8').split('\n') : [],
);

createServer(async (request, response) => {
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return; // the connection broke
  }
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/effects') {
    const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n') : [];
    const count = lines.filter((line) => line.startsWith(searchParams.get('referenceNumber')));
    return response.end(String(count.length));
  }
  const body = Buffer.concat(chunks);
  const digest = createHmac('sha256', process.env.MERCHANT_PAYMENTS_SIGNING_SECRET)
    .update(`${request.headers['x-timestamp']}.`)
    .update(body)
    .digest('hex');
  if (digest !== request.headers['x-signature']) return response.writeHead(401).end();
  const { referenceNumber, status } = JSON.parse(body.toString());
  const change = `${referenceNumber} ${status}`;
  if (!processed.has(change)) appendFileSync(ledger, `${change}\n`);
  processed.add(change);
  response.end();
}).listen(Number(port), '127.0.0.1', () => writeFileSync(`${folder}/pid`, String(process.pid)));
