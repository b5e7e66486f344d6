import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Buttons beside it. */
  readonly children?: ComponentChildren;
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'number' | 'search' | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly min?: string | undefined;
}

export function TextField({ label, value, onValue, children, ...props }: TextFieldProps) {
  const id = useId();
  const { type = 'text', placeholder, min } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="joined">
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
        />
        {children}
      </div>
    </div>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly choices: readonly string[];
  /** What the choice means. */
  readonly hint?: string | undefined;
}

export function SelectField({ label, value, onValue, children, choices, hint }: SelectFieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="joined">
        <select
          id={id}
          value={value}
          aria-describedby={hintId}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
        {children}
      </div>
      {hintId !== undefined && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextAreaProps extends Omit<FieldProps, 'children'> {
  readonly placeholder?: string | undefined;
}

export function TextArea({ label, value, onValue, placeholder }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={6}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </div>
  );
}

interface CheckboxProps {
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
  /** The label. */
  readonly children: ComponentChildren;
}

export function Checkbox({ isChecked, onCheck, children }: CheckboxProps) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
      />
      {children}
    </label>
  );
}

const DEBOUNCE_MS = 200;

interface SearchBoxProps {
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

export function SearchBox({ search, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(search);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  return (
    <search>
      <TextField
        label="Search by reference or status"
        type="search"
        value={text}
        onValue={(value) => {
          setText(value);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => onSearch(value.trim()), DEBOUNCE_MS);
        }}
      />
    </search>
  );
}
