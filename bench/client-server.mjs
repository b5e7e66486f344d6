import { createServer } from 'node:http';

// The service for client.mjs, in a separate process so that its work is not counted: every POST is
// answered with the same 250 bytes.
const answer = JSON.stringify({
  referenceNumber: '7d3c9a52-1f0e-4b6a-9c35-2e8b4f10a6d7',
  merchantPaymentReference: 'order-1001',
  providerReference: '',
  status: 'created',
  createdAt: '2026-11-21T10:15:30+00:00',
  updatedAt: '2026-11-21T10:15:30+00:00',
}).padEnd(250);

const headers = { 'content-type': 'application/json', 'content-length': answer.length };

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(answer));
});

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('message', () => process.send(process.cpuUsage()));
process.once('disconnect', () => process.exit());
