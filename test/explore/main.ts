import { processingScenes } from './processing-scenes.js';
import { judgeScene } from './run.js';
import { scenes } from './scenes.js';

// node --import tsx test/explore/main.ts [a part of a scene's name] [--nightly] [--shortest] [--story] [--until-wrong]
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [wanted = ''] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const has = (flag: string): boolean => flags.includes(`--${flag}`);

const begunAtMs = performance.now();
let wrong = 0;
for (const [name, scene] of Object.entries({ ...scenes, ...processingScenes })) {
  if (!name.includes(wanted)) continue;
  if (scene.isNightly && !has('nightly') && name !== wanted) continue;
  const limits = { isShortest: has('shortest') };
  const { isRight, text, explored } = await judgeScene(name, scene, limits);
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
