import { type Explored, explore, type Limits, type Play } from './explorer.js';
import type { Processing } from './processing.js';
import type { ProcessingScene } from './processing-scene.js';
import type { ScenePlan } from './scene.js';
import { World } from './world.js';

export type AnyScene = ScenePlan | ProcessingScene;

/** Explores a scene, with the scene's time in place of the machine's. */
export async function runScene(scene: AnyScene, limits?: Limits): Promise<Explored> {
  let world: World | Processing | undefined;
  const create = await opening(scene);
  const open = (): Play => {
    counts.clear();
    world = create();
    return world;
  };
  const counts = new Map<string, number>();
  // The same names in each run, since a path is taken again.
  const randomUUID = () => {
    const actor = world?.turns.current ?? '';
    const count = (counts.get(actor) ?? 0) + 1;
    counts.set(actor, count);
    return `${actor}#${count}`;
  };
  const now = () => world?.turns.nowMs ?? 0;
  const setTimer = (go: () => void, ms: number) => ({ end: world?.wait(go, ms), unref() {} });
  const clearTimer = (timer: ReturnType<typeof setTimer> | undefined) => timer?.end?.();
  const restore = [
    replace(globalThis, 'setTimeout', setTimer),
    replace(globalThis, 'clearTimeout', clearTimer),
    replace(performance, 'now', now),
    replace(Date, 'now', now),
    replace(crypto, 'randomUUID', randomUUID),
    replace(process, 'emitWarning', () => undefined),
    // Errors are made by the ten thousand, and nobody reads where.
    replace(Error, 'stackTraceLimit', 0),
  ];
  try {
    return await explore(open, limits);
  } finally {
    for (const undo of restore) undo();
  }
}

/** Only the scenes that need SQLite load it. */
async function opening(scene: AnyScene): Promise<() => World | Processing> {
  if (!('engine' in scene)) return () => new World(scene);
  const { Processing } = await import('./processing.js');
  return () => new Processing(scene);
}

function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, before);
  };
}

export interface Judgement {
  readonly isRight: boolean;
  /** What was seen, in a line. */
  readonly text: string;
  readonly explored: Explored;
}

/** Explores a scene, and says whether it holds or fails as it must. */
export async function judgeScene(
  name: string,
  scene: AnyScene,
  limits?: Limits,
): Promise<Judgement> {
  const startedAtMs = performance.now();
  const explored = await runScene(scene, limits);
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  const { failure, isComplete, states, steps } = explored;
  const { mustFail } = scene;
  const message = failure?.error.message.split('\n')[0] ?? '';
  const isRight =
    mustFail === undefined ? isComplete : failure !== undefined && mustFail.test(message);
  const seen = failure ? `fails: ${message}` : isComplete ? 'holds' : 'is not done';
  const text = `${isRight ? 'ok   ' : 'WRONG'} ${name}: ${seen}; ${states} states, ${steps} steps, ${seconds} s`;
  return { isRight, text, explored };
}
