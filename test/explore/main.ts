import { orderScenes } from './order-scenes.js';
import { judgeOrder, judgeScene } from './run.js';
import { scenes } from './scenes.js';

// node --import tsx test/explore/main.ts [a part of a scene's name] [--nightly] [--shortest] [--story] [--until-wrong]
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [wanted = ''] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const has = (flag: string): boolean => flags.includes(`--${flag}`);

const begunAtMs = performance.now();
let wrong = 0;
const limits = { isShortest: has('shortest') };
const all = [
  ...Object.entries(scenes).map(
    ([name, scene]) => [name, scene, () => judgeScene(name, scene, limits)] as const,
  ),
  ...Object.entries(orderScenes).map(
    ([name, scene]) => [name, scene, () => judgeOrder(name, scene, limits)] as const,
  ),
];
for (const [name, { isNightly }, judge] of all) {
  if (!name.includes(wanted)) continue;
  if (isNightly && !has('nightly') && name !== wanted) continue;
  const { isRight, text, explored } = await judge();
  console.log(text);
  const { failure } = explored;
  if (failure !== undefined && (!isRight || has('story'))) {
    console.log(`      ${failure.story.join(' · ')}`);
  }
  if (!isRight) wrong += 1;
  if (!isRight && has('until-wrong')) break;
}
const seconds = ((performance.now() - begunAtMs) / 1_000).toFixed(1);
console.log(`${wrong} wrong, ${seconds} s`);
process.exitCode = wrong === 0 ? 0 : 1;
