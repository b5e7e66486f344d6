import { expect } from 'vitest';
import { CallbackVerificationError } from '../../../src/errors.js';
import { deliver, type MakeServer, openScene, sign } from './scene.js';

/** A body that something read before the adapter: 500 at once, and the report says what to do. */
export async function expectRemedy(makeServer: MakeServer, remedy: string): Promise<void> {
  const scene = await openScene(makeServer);
  const reply = await deliver(scene, sign());
  expect(reply).toMatchObject({ status: 500, body: '' });
  expect(scene.callbacks).toEqual([]);
  expect(scene.reported).toHaveLength(1);
  const { error, callback } = scene.reported[0] ?? {};
  expect(error).toBeInstanceOf(CallbackVerificationError);
  expect(error).toMatchObject({ code: 'RAW_BODY_REQUIRED' });
  expect((error as Error).message).toContain(remedy);
  expect(callback).toBeUndefined();
}

/** The bytes get through: a body that no JSON.stringify would give again is verified. */
export async function expectProcessed(makeServer: MakeServer): Promise<void> {
  const scene = await openScene(makeServer);
  const { rawBody } = sign();
  const spaced = Buffer.concat([Buffer.from(' \n'), rawBody, Buffer.from('\r\n ')]);
  expect(await deliver(scene, sign(spaced))).toMatchObject({ status: 200, body: '' });
  expect(scene.callbacks).toHaveLength(1);
  expect(scene.reported).toEqual([]);
}
