import { startMockServer } from '../dist/mock-server/index.js';

// A mock service in a separate process. It tells its address, and at each message what it has used and done. With a
// callback URL it pays each payment at once.
const callbackUrl = process.argv[2];
const pays = callbackUrl !== undefined && { callbackUrl, autoStatus: 'paid', autoStatusAfterMs: 0 };
const server = await startMockServer({ ...pays });
process.on('message', () =>
  process.send({
    cpu: process.cpuUsage(),
    maxRssKib: process.resourceUsage().maxRSS,
    attempts: server.deliveries.length,
  }),
);
process.once('disconnect', () => process.exit());
process.send({ url: server.url, apiKey: server.apiKey, apiSecret: server.apiSecret });
