import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

/** An action of the user, and its outcome. */
interface Action {
  readonly isRunning: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  /** Runs `work` and shows what `say` makes of its result; does nothing while the previous run goes on. */
  run<Result>(work: () => Promise<Result>, say: (result: Result) => string): Promise<boolean>;
}

export function useAction(): Action {
  const [outcome, setOutcome] = useState<Omit<Action, 'run'>>({ isRunning: false });
  // The state is updated only with the next rendering, too late for a second click.
  const isRunning = useRef(false);

  async function run<Result>(
    work: () => Promise<Result>,
    say: (result: Result) => string,
  ): Promise<boolean> {
    if (isRunning.current) return false;
    isRunning.current = true;
    setOutcome({ isRunning: true });
    try {
      setOutcome({ isRunning: false, result: say(await work()) });
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setOutcome({ isRunning: false, error: message });
      return false;
    } finally {
      isRunning.current = false;
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
  readonly isPressed?: boolean | undefined;
  readonly isExpanded?: boolean | undefined;
}

export function Button({ kind = 'plain', action, onClick, ...props }: ButtonProps) {
  const isBusy = action?.isRunning === true;
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={`button ${kind}`}
      aria-disabled={isBusy || undefined}
      aria-pressed={props.isPressed}
      aria-expanded={props.isExpanded}
      onClick={isBusy ? undefined : onClick}
    >
      {props.children}
    </button>
  );
}

/** A form that the page handles itself. */
export function Form(props: { children: ComponentChildren; onSubmit: () => void }) {
  const submit = (event: Event) => {
    event.preventDefault();
    props.onSubmit();
  };
  return <form onSubmit={submit}>{props.children}</form>;
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Buttons beside it. */
  readonly children?: ComponentChildren;
}

function Field(props: { id: string; label: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={props.id}>{props.label}</label>
      <div class="joined">{props.children}</div>
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'number' | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean | undefined;
}

export function TextField({ label, value, onValue, children, ...props }: TextFieldProps) {
  const id = useId();
  const { type = 'text', placeholder } = props;
  return (
    <Field id={id} label={label}>
      <input
        id={id}
        // Preact's types ask for a constant.
        type={type as 'text'}
        value={value}
        placeholder={placeholder}
        required={props.isRequired}
        step={type === 'number' ? 'any' : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {children}
    </Field>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly choices: readonly string[];
}

export function SelectField({ label, value, onValue, children, choices }: SelectFieldProps) {
  const id = useId();
  return (
    <Field id={id} label={label}>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
      {children}
    </Field>
  );
}

export function TextArea({ label, value, onValue }: FieldProps) {
  const id = useId();
  return (
    <Field id={id} label={label}>
      <textarea
        id={id}
        rows={6}
        value={value}
        spellcheck={false}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </Field>
  );
}

interface CheckboxProps {
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
  /** The label. */
  readonly children: ComponentChildren;
}

export function Checkbox({ isChecked, onCheck, children }: CheckboxProps) {
  const toggle = () => onCheck(!isChecked);
  return (
    <label class="choice">
      <input type="checkbox" checked={isChecked} onChange={toggle} />
      {children}
    </label>
  );
}
