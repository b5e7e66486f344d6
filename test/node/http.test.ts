import { createServer } from 'node:http';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import type { MakeServer } from '../receiver/adapter-contract/scene.js';

const makeServer: MakeServer = (options) => createServer(callbackHandler(options));

describeReplies('node:http', makeServer);
describeConnections('node:http', makeServer);
