import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import type { MakeServer } from '../receiver/adapter-contract/scene.js';

// The framework of Google's Cloud Functions parses every body and keeps the bytes as `rawBody`.
const mount: MakeServer = (options) => {
  http('callbacks', callbackHandler(options));
  return getTestServer('callbacks');
};

describeReplies('functions-framework', mount, { behindJsonParser: true });
