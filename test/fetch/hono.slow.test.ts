import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/fetch/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { expectProcessed, expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import { deliver, type MakeServer, openScene, PATH } from '../receiver/adapter-contract/scene.js';

const REMEDY = 'Pass the request on before anything reads it';

const mount =
  (...before: MiddlewareHandler[]): MakeServer =>
  (options) => {
    const handler = callbackHandler(withoutKeyObjects(options));
    const app = new Hono();
    for (const middleware of before) app.use(middleware);
    app.all(PATH, (context) => handler(context.req.raw));
    // Without its own Request and Response in place of the global ones, for the sake of other tests.
    return createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  };

/** The adapters for Node also take a KeyObject, which a runtime without Node does not have. */
function withoutKeyObjects({ signingSecret, ...options }: CallbackReceiverOptions) {
  return { ...options, signingSecret: signingSecret as string };
}

describeReplies('Hono', mount());
// Its server closes a connection whose body was not read without a word, half a second later.
describeConnections('Hono', mount(), { saysClose: false });

it.each<[string, MiddlewareHandler]>([
  ['json()', (context, next) => context.req.json().then(next)],
  ['text()', (context, next) => context.req.text().then(next)],
  ['raw.json()', (context, next) => context.req.raw.json().then(next)],
  [
    'raw.body',
    async (context, next) => {
      context.req.raw.body?.getReader();
      await next();
    },
  ],
])('fails at once behind %s', (_name, middleware) => expectRemedy(mount(middleware), REMEDY));

it('works behind middleware that reads a copy of the body', () =>
  expectProcessed(
    mount((context, next) =>
      context.req.raw
        .clone()
        .text()
        .then(() => next()),
    ),
  ));

it('lets middleware add to the reply', async () => {
  const scene = await openScene(
    mount(async (context, next) => {
      await next();
      context.header('x-served-by', 'shop');
    }),
  );
  const reply = await deliver(scene, { method: 'GET' });
  expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST', 'x-served-by': 'shop' } });
});
