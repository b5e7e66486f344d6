import { expect, it } from 'vitest';
import { processingScenes } from './processing-scenes.js';
import { judgeScene } from './run.js';

const quick = Object.entries(processingScenes).filter(([, { isNightly }]) => isNightly !== true);

it.each(quick)('explores every order of steps on SQLite: %s', async (name, scene) => {
  const { isRight, text, explored } = await judgeScene(name, scene);
  const { failure } = explored;
  const story = isRight ? [] : failure?.story;
  expect({ text, isRight, story }).toEqual({ text, isRight: true, story: [] });
});
