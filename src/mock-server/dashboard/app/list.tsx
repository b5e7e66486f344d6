import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './controls.js';
import { writeCount } from './format.js';
import { moveFocus, rowsIn } from './keys.js';
import { toHash, type ViewName } from './route.js';
import { hold, type ListName, type List as ListState, searchFor, showNewest } from './state.js';

interface ListProps<Row> {
  readonly name: ListName;
  /** `undefined` until it is loaded. */
  readonly list: ListState<Row> | undefined;
  /** Singular. */
  readonly noun: string;
  readonly order: string;
  /** A screen reader announces the result of a search, but not every new row. */
  readonly isNarrowed: boolean;
  /** Whether one of its rows is open. */
  readonly hasSelection?: boolean;
  readonly row: (row: Row) => ComponentChildren;
  /** Shown when there is no row, and nothing narrows the list. */
  readonly empty: ComponentChildren;
}

export function List<Row>({ list, empty, ...props }: ListProps<Row>) {
  if (list === undefined) return <p>Loading…</p>;
  if (list.rows.length > 0) return <Rows list={list} {...props} />;
  return (
    <p class="empty" role="status">
      {props.isNarrowed ? `No ${props.noun}s match.` : empty}
    </p>
  );
}

type RowsProps<Row> = Omit<ListProps<Row>, 'empty' | 'list'> & { readonly list: ListState<Row> };

/**
 * A list whose rows stay in place while the reader points at it, has scrolled it, uses it by keyboard, or has
 * one of its rows open. New rows are counted until the reader asks for them.
 */
function Rows<Row>({ name, list, noun, order, ...props }: RowsProps<Row>) {
  const { rows, total, seen } = list;
  const { hasSelection = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const reasons = useRef({ pointer: false, focus: false });
  const update = () => {
    const { pointer, focus } = reasons.current;
    hold(hasSelection || pointer || focus || (frame.current?.scrollTop ?? 0) > 0);
  };
  const because = (reason: 'pointer' | 'focus', holds: boolean) => () => {
    reasons.current[reason] = holds;
    update();
  };
  useEffect(update, [hasSelection]);
  useEffect(() => () => hold(false), []);

  const nounFor = (count: number) => (count === 1 ? noun : `${noun}s`);
  const unseen = total - seen;

  return (
    <>
      <div class="list-head">
        <p class="muted list-count" role={props.isNarrowed ? 'status' : undefined}>
          {rows.length < total && `${writeCount(rows.length)} of `}
          {writeCount(total)} {nounFor(total)}, {order}
        </p>
        {unseen > 0 && (
          <button
            type="button"
            class="button small"
            onClick={() => {
              frame.current?.scrollTo(0, 0);
              void showNewest(name).catch(() => undefined);
            }}
          >
            <span aria-hidden="true">↑ </span>
            {writeCount(unseen)} new {nounFor(unseen)}
          </button>
        )}
      </div>
      <div
        class="held-list"
        ref={frame}
        onScroll={update}
        onPointerEnter={because('pointer', true)}
        onPointerLeave={because('pointer', false)}
        onFocusIn={because('focus', true)}
        onFocusOut={because('focus', false)}
      >
        <ul
          class={`rows ${name}`}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
            if (!(event.target as Element).matches('[data-row]')) return;
            event.preventDefault();
            moveFocus(frame.current, event.key === 'ArrowDown' ? 1 : -1);
          }}
        >
          {rows.map(props.row)}
        </ul>
        {unseen <= 0 && rows.length < total && (
          <p class="muted">Search to find the other {writeCount(total - rows.length)}.</p>
        )}
      </div>
    </>
  );
}

const DEBOUNCE_MS = 200;

/** Searches a list. ↓ leads to the first match, Enter opens it, Esc ends the search. */
export function SearchBox({ name, search = '' }: { name: ListName; search: string | undefined }) {
  const [text, setText] = useState(search);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const type = (value: string) => {
    setText(value);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void searchFor(name, value.trim()), DEBOUNCE_MS);
  };
  const firstMatch = async (): Promise<HTMLElement | undefined> => {
    window.clearTimeout(timer.current);
    await searchFor(name, text.trim());
    await new Promise(requestAnimationFrame);
    return rowsIn(document.querySelector('.held-list'))[0];
  };
  const onKey = (event: KeyboardEvent) => {
    const { key, isComposing } = event;
    if (isComposing || !['ArrowDown', 'Enter', 'Escape'].includes(key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (key === 'ArrowDown') void firstMatch().then((row) => row?.focus());
    if (key === 'Enter') void firstMatch().then((row) => row?.click());
    if (key !== 'Escape') return;
    if (text === '') (event.target as HTMLElement).blur();
    else type('');
  };

  return (
    <search>
      <TextField
        label="Search by reference or status"
        type="search"
        value={text}
        onValue={type}
        onKey={onKey}
      />
    </search>
  );
}

interface FiltersProps {
  readonly view: ViewName;
  readonly chosen: string | undefined;
  /** The name of each filter. */
  readonly names: Readonly<Record<string, string>>;
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

export function Filters({ view, chosen, names, counts }: FiltersProps) {
  const all = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  const filters = [
    { name: undefined, text: 'All', count: all },
    ...Object.entries(names).map(([name, text]) => ({ name, text, count: counts?.[name] })),
  ];
  return (
    <nav class="filters" aria-label={`Filter ${view}`}>
      <ul>
        {filters.map(({ name, text, count }) => (
          <li key={text}>
            <a
              href={toHash(view, name)}
              aria-current={name === chosen ? 'page' : undefined}
              class={name === 'failed' && count ? 'has-failures' : undefined}
            >
              {text} {count !== undefined && <span class="count">{writeCount(count)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
