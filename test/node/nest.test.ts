// Nest's decorators, applied by hand, store their arguments in its metadata.
import 'reflect-metadata';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { All, Body, Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { expectProcessed, expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import {
  deliver,
  type MakeServer,
  openScene,
  PATH,
  sign,
} from '../receiver/adapter-contract/scene.js';

function createModule(options: CallbackReceiverOptions): new () => object {
  const handler = callbackHandler(options);
  class CallbackController {
    receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      return handler(request, response);
    }
    echo(body: unknown): unknown {
      return body;
    }
  }
  decorate(CallbackController, 'receive', [All(PATH)], [Req(), Res()]);
  decorate(CallbackController, 'echo', [Post('echo')], [Body()]);
  Controller()(CallbackController);

  class AppModule {}
  Module({ controllers: [CallbackController] })(AppModule);
  return AppModule;
}

function decorate(
  target: new () => object,
  name: string,
  method: MethodDecorator[],
  parameters: ParameterDecorator[],
): void {
  const { prototype } = target;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (descriptor === undefined) throw new Error(`${target.name} has no method ${name}`);
  parameters.forEach((parameter, index) => {
    parameter(prototype, name, index);
  });
  for (const one of method) one(prototype, name, descriptor);
}

async function startNest(
  options: CallbackReceiverOptions,
  settings: { rawBody?: boolean; bodyParser?: boolean },
  prepare: (app: NestExpressApplication) => void = () => undefined,
): Promise<Server> {
  const app = await NestFactory.create<NestExpressApplication>(createModule(options), {
    logger: false,
    ...settings,
  });
  prepare(app);
  await app.init();
  onTestFinished(() => app.close());
  return app.getHttpServer();
}

const withRawBody: MakeServer = (options) => startNest(options, { rawBody: true });
const withoutParser: MakeServer = (options) => startNest(options, { bodyParser: false });

describe('NestJS', () => {
  describeReplies('NestJS with rawBody: true', withRawBody, { behindJsonParser: true });
  describeReplies('NestJS without a body parser', withoutParser);
  describeConnections('NestJS without a body parser', withoutParser);

  it('works with rawBody: true, and other routes get their parsed body', async () => {
    await expectProcessed(withRawBody);
    const scene = await openScene(withRawBody);
    const { rawBody, headers } = sign();
    const echo = await deliver(scene, { path: '/echo', rawBody, headers });
    expect(echo.body).toBe(Buffer.from(rawBody).toString());
  });

  it('fails at once without it', () =>
    expectRemedy((options) => startNest(options, {}), 'Mount the handler before the body parser'));
});
