import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'number' | 'search' | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly min?: string | undefined;
  /** Buttons that stand beside it. */
  readonly children?: ComponentChildren;
}

export function TextField(props: TextFieldProps) {
  const id = useId();
  const type = props.type ?? 'text';
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <div class="joined">
        <input
          id={id}
          // Preact's types want to know it beforehand.
          type={type as 'text'}
          value={props.value}
          placeholder={props.placeholder}
          required={props.isRequired}
          disabled={props.isDisabled}
          step={type === 'number' ? 'any' : undefined}
          min={props.min}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => props.onValue(currentTarget.value)}
        />
        {props.children}
      </div>
    </div>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly choices: readonly string[];
  /** What the choice means. */
  readonly hint?: string | undefined;
  /** Buttons that stand beside it. */
  readonly children?: ComponentChildren;
}

export function SelectField(props: SelectFieldProps) {
  const id = useId();
  const hintId = props.hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <div class="joined">
        <select
          id={id}
          value={props.value}
          aria-describedby={hintId}
          onChange={({ currentTarget }) => props.onValue(currentTarget.value)}
        >
          {props.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
        {props.children}
      </div>
      {hintId !== undefined && (
        <p id={hintId} class="hint">
          {props.hint}
        </p>
      )}
    </div>
  );
}
