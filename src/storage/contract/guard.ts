/** The resources of a case. */
export interface Endable {
  /** Ends everything that is held, and waits until every call has settled. */
  end(): Promise<void>;
}

/** A case that is not yet bound to a store. */
export interface ContractCase<Stage extends Endable, Need extends string> {
  readonly name: string;
  readonly needs?: Need;
  readonly run: (stage: Stage) => Promise<void>;
}

/** One promise, as a test. */
export interface RunnableCase {
  readonly name: string;
  readonly skipped?: string | undefined;
  run(): Promise<void>;
}

interface SuiteOptions<Stage extends Endable, Need extends string> {
  /** Called for each case. */
  createStage(): Stage;
  /** Why a case with a need can't run; false if it can. */
  readonly lacks: Readonly<Record<Need, string | false>>;
  readonly timeoutMs: number;
  /** What to check if a case does not end. */
  readonly hint: string;
}

/** Turns cases into tests. */
export function toRunnableCases<Stage extends Endable, Need extends string>(
  cases: readonly ContractCase<Stage, Need>[],
  { createStage, lacks, timeoutMs, hint }: SuiteOptions<Stage, Need>,
): readonly RunnableCase[] {
  return cases.map(({ name, needs, run }) => {
    const skipped = needs && lacks[needs];
    if (skipped) return skippedCase(name, skipped);
    return {
      name,
      run: () => runUnderGuard(createStage(), run, { timeoutMs, what: `"${name}"`, hint }),
    };
  });
}

function skippedCase(name: string, skipped: string): RunnableCase {
  // A resolved promise would count as a passed test.
  return {
    name,
    skipped,
    run: () => Promise.reject(new Error(`"${name}" can't be run: ${skipped}`)),
  };
}

interface GuardOptions {
  readonly timeoutMs: number;
  readonly what: string;
  readonly hint: string;
}

/**
 * Runs a case and waits for all of its calls, unless the store hangs.
 *
 * @throws what the case throws, or an error if it has not ended in time
 */
async function runUnderGuard<Stage extends Endable>(
  stage: Stage,
  run: (stage: Stage) => Promise<void>,
  { timeoutMs, what, hint }: GuardOptions,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<'expired'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'expired');
  });
  const inTime = async (end: Promise<void>): Promise<void> => {
    if ((await Promise.race([end, expired])) !== 'expired') return;
    throw new Error(`${what} has not ended after ${timeoutMs} ms: ${hint}`);
  };
  try {
    await inTime(run(stage));
    await inTime(stage.end());
  } catch (error) {
    // End everything before the test runner closes the store. If the store hangs too, that must not hide the error.
    await inTime(stage.end()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
