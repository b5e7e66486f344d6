import { type ContextManager, context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import {
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  startRawServer,
} from '../client/raw-server.js';
import { createScene, post } from '../receiver/scene.js';
import { startTelemetry } from './telemetry.js';

const fail = () => {
  throw new Error('the exporter is broken');
};

/** A call that succeeds, one that fails, and a callback, as without the SDK. Node would end the process for an error in a subscriber. */
async function expectNothingBroken(): Promise<void> {
  const answers = [created, httpAnswer(422)];
  const server = await startRawServer({ answer: (_request, index) => answers[index] });
  const client = createClient(server.url);
  expect((await client.payments.create(order)).response.status).toBe(201);
  expect(await failureOf(client.payments.create(order))).toMatchObject({ httpStatus: 422 });
  expect(server.requests).toHaveLength(2);
  const scene = createScene();
  expect(await scene.receive(post())).toMatchObject({ status: 200, outcome: 'processed' });
  expect(scene.handled).toHaveLength(1);
}

const brokenProcessor = (name: 'onStart' | 'onEnd'): SpanProcessor => ({
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
  [name]: fail,
});

describe('calls and callbacks are unaffected', () => {
  it.each(['onStart', 'onEnd'] as const)('when a processor throws in %s', async (name) => {
    const { metrics: read } = startTelemetry({}, [brokenProcessor(name)]);
    await expectNothingBroken();
    expect((await read())['merchant_payments.calls']).toHaveLength(2);
  });

  it('when the context manager throws', async () => {
    const manager: ContextManager = {
      active: () => ROOT_CONTEXT,
      with: fail,
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
    const { disable } = instrumentMerchantPayments();
    onTestFinished(() => {
      disable();
      context.disable();
    });
    await expectNothingBroken();
  });
});
