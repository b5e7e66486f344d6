import { createServer } from 'node:http';
import Koa from 'koa';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import {
  deliver,
  type MakeServer,
  openScene,
  PATH,
  sign,
} from '../receiver/adapter-contract/scene.js';

const mount =
  (respond: boolean, ...before: Koa.Middleware[]): MakeServer =>
  (options) => {
    const handler = callbackHandler(options);
    const app = new Koa();
    // It logs what befalls a connection.
    app.silent = true;
    for (const middleware of before) app.use(middleware);
    app.use(async (context, next) => {
      if (context.path !== PATH) return next();
      context.respond = respond;
      await handler(context.req, context.res);
    });
    return createServer(app.callback());
  };

describeReplies('Koa', mount(false));
describeConnections('Koa', mount(false));

it('leaves the reply as it is when respond was not set to false', async () => {
  const scene = await openScene(mount(true));
  expect(await deliver(scene, sign())).toMatchObject({ status: 200, body: '' });
  expect(await deliver(scene, { method: 'GET' })).toMatchObject({ status: 405, body: '' });
});

it('fails at once behind a body parser', () => {
  // As koa-bodyparser does: what it read is on context.request, not on context.req.
  const parseBody: Koa.Middleware = async (context, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of context.req) chunks.push(chunk);
    Object.assign(context.request, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    await next();
  };
  return expectRemedy(mount(false, parseBody), 'Mount the handler before the body parser');
});
