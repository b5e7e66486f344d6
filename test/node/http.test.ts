import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import type { MakeServer } from '../receiver/adapter-contract/scene.js';

const makeServer: MakeServer = (options) => createServer(callbackHandler(options));

describeReplies('node:http', makeServer);
describeConnections('node:http', makeServer);

test('the stack of an empty secret reaches the line that gave it', () => {
  const { stackTraceLimit } = Error;
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  Error.stackTraceLimit = 10; // Node's default
  expect(() => callbackHandler({ signingSecret: '', onPayment() {} })).toThrow(
    expect.objectContaining({ stack: expect.stringContaining(import.meta.filename) }),
  );
  expect(Error.stackTraceLimit).toBe(10);
});
