import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { liveData } from './live-data.js';

interface Outcome {
  readonly isRunning: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
}

/** An action of the user, and its outcome. */
export interface Action extends Outcome {
  /** Runs `work`, which returns the sentence to show; does nothing while the previous run goes on. */
  run(work: () => Promise<string>): Promise<boolean>;
}

export function useAction(): Action {
  const [outcome, setOutcome] = useState<Outcome>({ isRunning: false });
  // The state is updated only with the next rendering, too late for a second click.
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

/** Both regions are always present: a screen reader ignores one that is added with its text. */
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
  /** While this action runs, the button does nothing, but keeps the focus. */
  readonly action?: Action | undefined;
  /** Without it, the button submits its form. */
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
