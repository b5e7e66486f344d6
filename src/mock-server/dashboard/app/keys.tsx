import { useEffect, useRef, useState } from 'preact/hooks';
import { Checkbox } from './controls.js';

const keys = [
  ['/', 'Search: ↓ goes to the matches, Enter opens the first, Esc ends it'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['r', 'Resend the callback of the row or the open payment'],
  ['Esc', 'Back to the list'],
  ['?', 'Show these keys'],
] as const;

/** Returns the visible rows of a list: their links. */
export function rowsIn(root: ParentNode | null): HTMLElement[] {
  const rows = root?.querySelectorAll<HTMLElement>('[data-row]') ?? [];
  return [...rows].filter((row) => row.offsetParent !== null);
}

/** Moves the focus in a list by `by` rows, from the focused or the open one. */
export function moveFocus(root: ParentNode | null, by: number): void {
  const rows = rowsIn(root);
  const focused = rows.findIndex((row) => row.matches(':focus'));
  const at = focused >= 0 ? focused : rows.findIndex((row) => row.matches('[aria-current]'));
  rows[at < 0 ? 0 : at + by]?.focus();
}

/** Resends for the focused row, otherwise for the open payment. */
function resend(): void {
  const row =
    document.activeElement?.closest('.callbacks > li') ?? document.querySelector('.actions');
  row?.querySelector<HTMLElement>('[data-resend] button')?.click();
}

function search(): void {
  document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, select, textarea, dialog') !== null;

/** Keyboard shortcuts, with the button and the dialog that explain them. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOn, setOn] = useState(true);
  const open = () => dialog.current?.showModal();
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      '/': search,
      j: () => moveFocus(document.querySelector('main'), 1),
      k: () => moveFocus(document.querySelector('main'), -1),
      r: resend,
      '?': open,
    };
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, isComposing } = event;
      const act = actions[key];
      if (!isOn || act === undefined || isTyping(target)) return;
      if (ctrlKey || metaKey || altKey || isComposing || (event.repeat && key === 'r')) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOn]);

  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={open}
      >
        ?
      </button>
      <dialog ref={dialog} aria-labelledby="shortcuts-title">
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <dl class="keys">
          {keys.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <Checkbox isChecked={isOn} onCheck={setOn}>
          Use these keys
        </Checkbox>
        <form method="dialog">
          <button type="submit" class="button primary">
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}
