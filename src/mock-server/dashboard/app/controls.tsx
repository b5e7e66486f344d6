import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { refresh } from './state.js';

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
      refresh();
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
  /** What the value means. */
  readonly hint?: string | undefined;
}

function Field({
  id,
  label,
  hint,
  children,
}: Omit<FieldProps, 'value' | 'onValue'> & { id: string }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="joined">{children}</div>
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'number' | 'search' | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly min?: string | undefined;
  readonly onKey?: ((event: KeyboardEvent) => void) | undefined;
}

export function TextField({ label, value, onValue, children, ...props }: TextFieldProps) {
  const id = useId();
  const { type = 'text', placeholder, min } = props;
  return (
    <Field id={id} label={label}>
      <input
        id={id}
        // Preact's types ask for a constant.
        type={type as 'text'}
        value={value}
        placeholder={placeholder}
        required={props.isRequired}
        disabled={props.isDisabled}
        step={type === 'number' ? 'any' : undefined}
        min={min}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={props.onKey}
      />
      {children}
    </Field>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly choices: readonly string[];
  /** What a choice is called, if not by its value. */
  readonly names?: Readonly<Record<string, string>> | undefined;
}

export function SelectField({ label, value, onValue, children, ...props }: SelectFieldProps) {
  const id = useId();
  const { choices, names, hint } = props;
  return (
    <Field id={id} label={label} hint={hint}>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {names?.[choice] ?? choice}
          </option>
        ))}
      </select>
      {children}
    </Field>
  );
}

export function TextArea({ label, value, onValue, placeholder }: TextFieldProps) {
  const id = useId();
  return (
    <Field id={id} label={label}>
      <textarea
        id={id}
        rows={6}
        value={value}
        placeholder={placeholder}
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

interface SectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Next to the title. */
  readonly actions?: ComponentChildren;
}

/** A region with a title and a frame. */
export function Card({ title, children, class: className = '', actions }: SectionProps) {
  const id = useId();
  return (
    <section class={`card ${className}`} aria-labelledby={id}>
      <div class="card-head">
        <h3 id={id}>{title}</h3>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** A view that is read from top to bottom. */
export function Page({ title, children, class: className = '' }: SectionProps) {
  const id = useId();
  return (
    <section class={`page ${className}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
