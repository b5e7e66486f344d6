import { createServer } from 'node:http';
import express5 from 'express';
import express4 from 'express-4';
import { describe, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { pairwise } from '../pairwise.js';
import { badRequests } from '../receiver/adapter-contract/bad-requests.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { expectProcessed, expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import { type MakeServer, PATH } from '../receiver/adapter-contract/scene.js';

const REMEDY = 'Mount the handler before the body parser';

const versions: [name: string, express: typeof express5][] = [
  ['Express 4', express4],
  ['Express 5', express5],
];

const mounts = ['the handler', 'express.raw', 'rawBody'];
const tried = pairwise([badRequests, mounts, versions.map(([name]) => name)]);

describe.each(versions)('%s', (name, express) => {
  const only = (mount: string): readonly string[] =>
    tried.filter(([, at, version]) => at === mount && version === name).map(([what]) => what);
  const mount =
    (...before: express5.Handler[]): MakeServer =>
    (options) =>
      createServer(express().all(PATH, ...before, callbackHandler(options)));

  describeReplies(name, mount(), { only: only('the handler') });
  describeConnections(name, mount());

  describeReplies(`${name} with express.raw`, mount(express.raw({ type: '*/*' })), {
    isInflated: true,
    only: only('express.raw'),
  });

  // As the framework of Google's Cloud Functions has them.
  const verify = (request: object, _response: unknown, bytes: Buffer) =>
    void Object.assign(request, { rawBody: bytes });
  const functions = mount(
    express.json({ verify }),
    express.text({ type: 'text/*', verify }),
    express.urlencoded({ extended: true, verify }),
    express.raw({ type: '*/*', verify }),
  );
  describeReplies(`${name} with rawBody by every parser`, functions, {
    behindJsonParser: true,
    only: only('rawBody'),
  });

  it('runs the handler as middleware too', () =>
    expectProcessed((options) => createServer(express().use(PATH, callbackHandler(options)))));

  it('works with a body that a verify function kept as rawBody', () => {
    const keep = express.json({
      verify: (request, _response, bytes) => void Object.assign(request, { rawBody: bytes }),
    });
    return expectProcessed(mount(keep));
  });

  it.each([
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: '*/*' })],
  ])('fails at once behind %s', (_name, parser) => expectRemedy(mount(parser), REMEDY));
});
