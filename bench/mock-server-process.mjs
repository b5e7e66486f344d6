import { startMockServer } from '../dist/mock-server/index.js';

// A mock service in a separate process. It tells its address, and at each message how much CPU it has used.
const { url, apiKey, apiSecret } = await startMockServer();
process.on('message', () => process.send(process.cpuUsage()));
process.once('disconnect', () => process.exit());
process.send({ url, apiKey, apiSecret });
