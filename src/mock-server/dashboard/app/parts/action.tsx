import { useRef, useState } from 'preact/hooks';
import { liveData } from '../data/live-data.js';

/** Something the user has started, and what became of it. */
export interface Action {
  readonly isRunning: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  /** Runs `work`, which gives the sentence to show; does nothing while the one before is under way. */
  run(work: () => Promise<string>): Promise<boolean>;
}

interface Outcome {
  readonly isRunning: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
}

export function useAction(): Action {
  const [outcome, setOutcome] = useState<Outcome>({ isRunning: false });
  // The state lags behind by a rendering; a second click must not.
  const isRunning = useRef(false);

  async function run(work: () => Promise<string>): Promise<boolean> {
    if (isRunning.current) return false;
    isRunning.current = true;
    setOutcome({ isRunning: true });
    try {
      const result = await work();
      setOutcome({ isRunning: false, result });
      return true;
    } catch (error) {
      setOutcome({
        isRunning: false,
        error: error instanceof Error ? error.message : String(error),
      });
      return false;
    } finally {
      isRunning.current = false;
      liveData.refresh();
    }
  }

  return { ...outcome, run };
}

/** Says beside the button how it goes. Both regions are there from the start, or nobody hears them. */
export function ActionStatus({ action }: { action: Action }) {
  return (
    <div class="action-status">
      <p role="status">{action.isRunning ? 'Working…' : action.result}</p>
      <p role="alert" class="bad-text">
        {action.error !== undefined && <>Failed: {action.error}</>}
      </p>
    </div>
  );
}
