import { expect, it } from 'vitest';
import { orderScenes } from './order-scenes.js';
import { type Judgement, judgeOrder, judgeScene } from './run.js';
import { scenes } from './scenes.js';

const quick = Object.entries(scenes).filter(([, { isNightly }]) => isNightly !== true);

it.each(quick)('explores every order of steps: %s', async (name, scene) => {
  expectRight(await judgeScene(name, scene));
});

const quickOrders = Object.entries(orderScenes).filter(([, { isNightly }]) => isNightly !== true);

it.each(quickOrders)(
  'explores every order of steps of several attempts: %s',
  async (name, scene) => {
    expectRight(await judgeOrder(name, scene));
  },
);

function expectRight({ isRight, text, explored }: Judgement): void {
  const { failure } = explored;
  const story = isRight ? [] : failure?.story;
  expect({ text, isRight, story }).toEqual({ text, isRight: true, story: [] });
}
