import type { ComponentChildren } from 'preact';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: 'primary' | 'plain' | 'danger' | undefined;
  readonly type?: 'button' | 'submit' | undefined;
  /** Its work is under way. It keeps the focus, which `disabled` would take from it. */
  readonly isBusy?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly describedBy?: string | undefined;
}

export function Button({
  children,
  onClick,
  kind = 'plain',
  type = 'button',
  isBusy = false,
  isDisabled = false,
  describedBy,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-disabled={isBusy || undefined}
      aria-describedby={describedBy}
      disabled={isDisabled}
      onClick={isBusy ? undefined : onClick}
    >
      {children}
    </button>
  );
}
