/** What a case plays on, and ends. */
export interface Endable {
  /** Lets all end that is held, and waits until no call is under way. */
  end(): Promise<void>;
}

/** A case before it has a store. */
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
  /** Made for each case. */
  createStage(): Stage;
  /** Why a case that needs something can't be run; false when it can. */
  readonly lacks: Readonly<Record<Need, string | false>>;
  readonly timeoutMs: number;
  /** What is to be looked into when a case does not end. */
  readonly hint: string;
}

/** Makes tests of cases. */
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
  // Resolving would count as a promise kept.
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
 * Runs a case, and leaves nothing of it running unless the store hangs.
 *
 * @throws what the case throws, or an error that says that it has not ended in time
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
    // The runner closes the store next. A store that hangs as well must not hide the error.
    await inTime(stage.end()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
