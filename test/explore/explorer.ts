import { digest, type Step, type Turns } from './turns.js';

/** One run of a scene. */
export interface Play {
  readonly turns: Turns;
  /** The steps of the world besides those of the actors: time, a crash. */
  more(isReplay: boolean): readonly Step[];
  /** Everything that is stored, without what makes no difference. */
  state(): Promise<string>;
  /** Throws if something is wrong that must hold at any time. */
  check(): Promise<void>;
  /** Throws if something is wrong once nobody does anything any more. The run ends with it. */
  end(): Promise<void>;
}

interface Counts {
  states: number;
  steps: number;
  runs: number;
  ends: number;
}

export interface Explored extends Readonly<Counts> {
  /** Whether every order was tried. */
  readonly isComplete: boolean;
  readonly failure?: Failure;
}

export interface Failure {
  readonly error: Error;
  /** The steps that have led to it. */
  readonly story: readonly string[];
}

export interface Limits {
  /** Finds a shortest way to a failure, at a higher cost. */
  readonly isShortest?: boolean;
  readonly maxRuns?: number;
}

/** Takes the steps of a scene in every order. A state that was seen before is not followed again. */
export async function explore(
  open: () => Play,
  { isShortest = false, maxRuns = Number.POSITIVE_INFINITY }: Limits = {},
): Promise<Explored> {
  const counts = { states: 0, steps: 0, runs: 0, ends: 0 };
  const search: Search = { seen: new Set(), paths: [[]], counts, isShortest };
  for (let taken = 0; ; taken += 1) {
    const path = isShortest ? search.paths[taken] : search.paths.pop();
    if (path === undefined) break;
    if (counts.runs >= maxRuns) return { ...counts, isComplete: false };
    const failure = await follow(open, path, search);
    if (failure !== undefined) return { ...counts, isComplete: false, failure };
  }
  return { ...counts, isComplete: true };
}

interface Search {
  readonly seen: Set<string>;
  /** The ways that were not followed yet. */
  readonly paths: (readonly string[])[];
  readonly counts: Counts;
  readonly isShortest: boolean;
}

/** Takes the steps of a path, and then, unless the shortest way is looked for, goes on to an end. */
async function follow(
  open: () => Play,
  path: readonly string[],
  search: Search,
): Promise<Failure | undefined> {
  const { counts } = search;
  counts.runs += 1;
  const story: string[] = [];
  try {
    const play = open();
    await settled();
    for (;;) {
      const step =
        story.length < path.length
          ? find(play, path[story.length])
          : await next(play, story, search);
      if (step === undefined) return undefined;
      story.push(step.label);
      step.take();
      await settled();
      counts.steps += 1;
      if (story.length >= path.length) await play.check();
    }
  } catch (error) {
    return { error: error as Error, story };
  }
}

function find(play: Play, label = ''): Step {
  const step = play.turns.find(label) ?? play.more(true).find((one) => one.label === label);
  if (step === undefined) throw new Error(`a run can not be repeated: no ${label}`);
  return step;
}

/** The step to go on with; undefined at an end, and at a state that was seen before. Keeps the others for later. */
async function next(
  play: Play,
  story: readonly string[],
  { seen, paths, counts, isShortest }: Search,
): Promise<Step | undefined> {
  const { turns } = play;
  const own = turns.steps();
  const key = digest(`${turns.state()}${await play.state()}`);
  if (seen.has(key)) return undefined;
  seen.add(key);
  counts.states += 1;
  const steps = [...own, ...play.more(false)];
  const isEnd = own.length === 0;
  const others = isShortest || isEnd ? steps : steps.slice(1);
  for (const { label } of others) paths.push([...story, label]);
  if (isEnd) {
    counts.ends += 1;
    turns.isAuto = true;
    await play.end();
  }
  return isShortest || isEnd ? undefined : steps[0];
}

// All that promises lead to has happened then.
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
