import { performance } from 'node:perf_hooks';
import type { ExplorationStep } from './script.js';

type Script = readonly ExplorationStep[];

/** The limits of the search for the shortest script. */
export interface ShrinkLimits {
  readonly maxRuns: number;
  readonly withinMs: number;
}

/** A shrunk script. */
export interface Shrunk {
  readonly script: Script;
  readonly runs: number;
  /** `complete`: without any one of its steps the script does not fail. */
  readonly ended: 'complete' | 'out-of-runs' | 'out-of-time';
}

/**
 * Removes steps from a failing script while it still `fails`: halves first, then smaller and smaller parts (delta
 * debugging). Then simplifies the steps that are left.
 */
export async function shrink(
  whole: Script,
  fails: (script: Script) => Promise<boolean>,
  { maxRuns, withinMs }: ShrinkLimits,
): Promise<Shrunk> {
  const startedMs = performance.now();
  let script = whole;
  let runs = 0;
  let ended: Shrunk['ended'] = 'complete';
  const keepIfFails = async (candidate: Script): Promise<boolean> => {
    if (runs >= maxRuns) ended = 'out-of-runs';
    else if (performance.now() - startedMs >= withinMs) ended = 'out-of-time';
    if (ended !== 'complete' || candidate.length === 0) return false;
    runs += 1;
    const numbered = numberPayments(candidate);
    if (!(await fails(numbered))) return false;
    script = numbered;
    return true;
  };

  let size = Math.ceil(whole.length / 2);
  while (size > 0) {
    let isShorter = false;
    for (let start = 0; start < script.length; ) {
      const isTaken = await keepIfFails(script.toSpliced(start, size));
      if (isTaken) isShorter = true;
      else start += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!isShorter) size = 0;
  }
  for (const index of script.keys()) {
    for (const plain of plainerSteps(script[index] as ExplorationStep)) {
      await keepIfFails(script.with(index, plain));
    }
  }
  return { script, runs, ended };
}

/** Returns simpler forms of a step. */
function plainerSteps(step: ExplorationStep): ExplorationStep[] {
  if (step.do === 'restart') return [];
  const { payment, change } = step;
  const plain = { do: 'deliver', payment, change } as const;
  if (step.do !== 'deliver') return [plain];
  const { lateSeconds, atOnce } = step;
  if (lateSeconds === undefined) return atOnce ? [plain] : [];
  return atOnce ? [{ ...plain, lateSeconds }, { ...plain, atOnce }, plain] : [plain];
}

/** Numbers the payments from 1, in the order in which they appear. */
function numberPayments(script: Script): Script {
  const numbers = new Map<number, number>();
  return script.map((step) => {
    if (step.do === 'restart') return step;
    const payment = numbers.get(step.payment) ?? numbers.size + 1;
    numbers.set(step.payment, payment);
    return { ...step, payment };
  });
}
