import { expect, it } from 'vitest';
import { judgeScene } from './run.js';
import { scenes } from './scenes.js';

const quick = Object.entries(scenes).filter(([, { isNightly }]) => isNightly !== true);

it.each(quick)('explores every order of steps: %s', async (name, scene) => {
  const { isRight, text, explored } = await judgeScene(name, scene);
  const { failure } = explored;
  const story = isRight ? [] : failure?.story;
  expect({ text, isRight, story }).toEqual({ text, isRight: true, story: [] });
});
