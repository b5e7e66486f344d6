import { createServer, type Server } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import Koa from 'koa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import { callbackPlugin } from '../../src/fastify/callback-plugin.js';
import { callbackHandler as fetchHandler } from '../../src/fetch/callback-handler.js';
import { callbackHandler as lambdaHandler } from '../../src/lambda/callback-handler.js';
import { callbackHandler as nodeHandler } from '../../src/node/callback-handler.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { deliver, openScene, PATH, SECRET, sign } from './adapter-contract/scene.js';

/** Any handler, as a program that does not check types mounts it. */
type AnyHandler = (...args: readonly unknown[]) => unknown;
type Mount = (handler: AnyHandler) => Server | Promise<Server>;

const entries = {
  node: (options: CallbackReceiverOptions) => nodeHandler(options) as AnyHandler,
  fetch: (options: CallbackReceiverOptions) => fetchHandler(options) as AnyHandler,
  lambda: (options: CallbackReceiverOptions) => lambdaHandler(options) as AnyHandler,
  receiver: (options: CallbackReceiverOptions) =>
    createCallbackReceiver(options).receive as AnyHandler,
};

const mountExpress =
  (pass: (request: object, response: object) => readonly unknown[]): Mount =>
  (handler) =>
    createServer(express().all(PATH, (request, response) => handler(...pass(request, response))));

const mountKoa: Mount = (handler) => {
  const app = new Koa();
  app.silent = true;
  return createServer(app.use(handler as Koa.Middleware).callback());
};

const mountFastify: Mount = async (handler) => {
  const app = fastify();
  // As NestJS keeps the body with rawBody: true.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    Object.assign(request, { rawBody: bytes });
    done(null, JSON.parse(String(bytes)));
  });
  app.post(PATH, (request, reply) => handler(request, reply) as Promise<unknown>);
  await app.ready();
  onTestFinished(() => app.close());
  return app.server;
};

it.each<[string, Mount]>([
  ['Koa', mountKoa],
  ['Fastify', mountFastify],
])('merchant-payments/node serves what %s passes to a route', async (_name, mount) => {
  const scene = await openScene((options) => mount(entries.node(options)));
  expect(await deliver(scene, sign())).toMatchObject({ status: 200, body: '' });
  const forged = sign({}, { signingSecret: 'another' });
  expect(await deliver(scene, forged)).toMatchObject({ status: 401, body: '' });
  expect(scene.callbacks).toHaveLength(1);
  expect(scene.reported).toEqual([]);
});

/** What comes with a response of node:http, and what the error calls it. */
const answerable: [says: string, mount: Mount, refusing: readonly (keyof typeof entries)[]][] = [
  ['a request and a response', mountExpress((...pair) => pair), ['fetch', 'lambda']],
  ["Koa's context", mountKoa, ['fetch', 'lambda']],
  ["Fastify's request and reply", mountFastify, ['fetch', 'lambda']],
  ['without its response', mountExpress((request) => [request]), ['node', 'fetch', 'lambda']],
  [
    "h3's event",
    mountExpress((req, res) => [{ node: { req, res }, context: {} }]),
    ['node', 'fetch', 'lambda'],
  ],
];

it.each(
  answerable.flatMap(([says, mount, refusing]) =>
    refusing.map((entry) => ({ says, entry, mount })),
  ),
)('merchant-payments/$entry answers 500 to $says, and names it', async ({ says, entry, mount }) => {
  const scene = await openScene((options) => mount(entries[entry](options)));
  expect(await deliver(scene, sign())).toMatchObject({ status: 500, body: '' });
  expect(scene.callbacks).toEqual([]);
  expect(scene.reported).toMatchObject([{ error: { code: 'INVALID_OPTION' } }]);
  const message = String(scene.reported[0]?.error);
  expect(message).toContain(`The handler of merchant-payments/${entry} takes`);
  expect(message).toContain(says);
  expect(message).toContain('Use callbackHandler of merchant-payments/node instead');
});

it('callbackPlugin that is mounted in place of registered answers 500, and says so', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const mounted = callbackPlugin as AnyHandler;
  const scene = await openScene(() => mountExpress((...pair) => pair)(mounted));
  expect(await deliver(scene, sign())).toMatchObject({ status: 500 });
  expect(String(log.mock.calls)).toContain('app.register(callbackPlugin');
});

const sqs = { Records: [{ messageId: '1', body: '{}', attributes: { SentTimestamp: '1' } }] };
/** What comes without such a response, what takes it, and what the error says. */
const unanswerable: [what: string, given: unknown, served: string, remedy: string][] = [
  ['a Request', new Request('http://shop/'), 'fetch', 'merchant-payments/fetch'],
  ['an HTTP event', { httpMethod: 'POST', headers: {} }, 'lambda', 'merchant-payments/lambda'],
  ['an event of SQS', sqs, 'none', 'with receivedAt, as in docs/queues.md'],
  ['an empty object', {}, 'none', 'docs/frameworks.md'],
  ['nothing', undefined, 'none', 'docs/frameworks.md'],
];

it.each(
  unanswerable.flatMap(([what, given, served, remedy]) =>
    (['node', 'fetch', 'lambda', 'receiver'] as const)
      .filter((entry) => entry !== served)
      .map((entry) => ({ what, entry, given, remedy })),
  ),
)('merchant-payments/$entry refuses $what', async ({ entry, given, remedy }) => {
  const reported: unknown[] = [];
  const onPayment = vi.fn();
  const handler = entries[entry]({
    signingSecret: SECRET,
    onPayment,
    onError: (error) => void reported.push(error),
    onRejected: (error) => void reported.push(error),
  });
  const thrown = await Promise.resolve(handler(given, {})).catch((error: unknown) => error);
  expect(onPayment).not.toHaveBeenCalled();
  if (entry === 'receiver') return;
  expect(thrown).toBeInstanceOf(InvalidOptionError);
  expect((thrown as Error).message).toContain(remedy);
  expect(reported).toEqual([thrown]);
});
