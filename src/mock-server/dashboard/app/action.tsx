import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { liveData } from './live-data.js';

interface Outcome {
  readonly isRunning: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
}

/** What the user started, and its outcome. */
export interface Action extends Outcome {
  /** Runs `work`, which returns the sentence to show; does nothing while the last one is running. */
  run(work: () => Promise<string>): Promise<boolean>;
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
      setOutcome({ isRunning: false, result: await work() });
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setOutcome({ isRunning: false, error: message });
      return false;
    } finally {
      isRunning.current = false;
      liveData.refresh();
    }
  }

  return { ...outcome, run };
}

/** Both regions are there from the start: a screen reader says nothing of one that is added filled. */
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

interface ButtonProps {
  readonly children: ComponentChildren;
  /** What it works for: while that runs, the button does nothing but keeps the focus. */
  readonly action?: Action | undefined;
  /** Submits its form without one. */
  readonly onClick?: (() => void) | undefined;
  readonly kind?: 'primary' | 'plain' | 'danger' | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly isSmall?: boolean | undefined;
  readonly describedBy?: string | undefined;
}

export function Button({ kind = 'plain', action, onClick, ...props }: ButtonProps) {
  const isBusy = action?.isRunning === true;
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={`button ${kind}${props.isSmall ? ' small' : ''}`}
      aria-disabled={isBusy || undefined}
      aria-describedby={props.describedBy}
      disabled={props.isDisabled}
      onClick={isBusy ? undefined : onClick}
    >
      {props.children}
    </button>
  );
}

interface FormProps {
  readonly children: ComponentChildren;
  readonly onSubmit: () => void;
  readonly class?: string | undefined;
  readonly labelledBy?: string | undefined;
}

/** A form that the page handles itself. */
export function Form({ children, onSubmit, labelledBy, class: className }: FormProps) {
  return (
    <form
      class={className}
      aria-labelledby={labelledBy}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
