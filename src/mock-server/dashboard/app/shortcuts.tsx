import { useEffect, useRef, useState } from 'preact/hooks';
import { Checkbox } from './field.js';

const keys = [
  ['/', 'Search'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['r', 'Resend the callback of the row or the open payment'],
  ['Esc', 'Back to the list'],
  ['?', 'Show these shortcuts'],
] as const;

/** Returns the visible rows of a list: their links. */
export function rowsIn(root: ParentNode | null): HTMLElement[] {
  const rows = root?.querySelectorAll<HTMLElement>('[data-row]') ?? [];
  return [...rows].filter((row) => row.offsetParent !== null);
}

/** Moves the focus in a list by `by` rows, and returns the row it moved to. */
export function moveFocus(root: ParentNode | null, by: number): HTMLElement | undefined {
  const rows = rowsIn(root);
  const focused = rows.findIndex((row) => row.matches(':focus'));
  const at = focused >= 0 ? focused : rows.findIndex((row) => row.matches('[aria-current]'));
  const next = rows[at < 0 ? 0 : at + by];
  next?.focus();
  return next;
}

let wasOpenedByStep = false;

/** Returns, once, whether the open payment was opened by moving through the list. */
export function takeOpenedByStep(): boolean {
  const answer = wasOpenedByStep;
  wasOpenedByStep = false;
  return answer;
}

// While a payment is open, moving opens the next one, as in a mail program.
function step(by: number): void {
  const isOpen = document.querySelector('[data-row][aria-current]') !== null;
  const row = moveFocus(document.querySelector('main'), by);
  if (row === undefined || !isOpen || row.hasAttribute('aria-current')) return;
  wasOpenedByStep = true;
  row.click();
}

/** Resends for the focused row, otherwise for the open payment. */
function resend(): void {
  const row = document.activeElement?.closest('tr, .failures li');
  (row ?? document.querySelector('.actions'))
    ?.querySelector<HTMLElement>('[data-resend] button')
    ?.click();
}

function search(): void {
  document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
}

const STORED = 'till.shortcuts';

function readStored(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return true;
  }
}

function store(isOn: boolean): void {
  try {
    localStorage.setItem(STORED, isOn ? 'on' : 'off');
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, select, textarea, dialog') !== null;

/** Keyboard shortcuts, with the button and the dialog that explain them. */
export function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOn, setOn] = useState(readStored);
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      '/': search,
      j: () => step(1),
      k: () => step(-1),
      r: resend,
      '?': () => dialog.current?.showModal(),
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
        onClick={() => dialog.current?.showModal()}
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
        <Checkbox
          isChecked={isOn}
          onCheck={(isChecked) => {
            setOn(isChecked);
            store(isChecked);
          }}
        >
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
