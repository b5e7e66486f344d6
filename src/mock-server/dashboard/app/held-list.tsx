import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { writeCount } from './format.js';
import { liveData, type Rows } from './live-data.js';

interface HeldListProps {
  readonly children: ComponentChildren;
  /** Whether one of its rows is open. */
  readonly hasSelection: boolean;
}

/**
 * A list whose rows stay in place while somebody points at it, has scrolled it, uses it by keyboard, or has
 * one of its rows open.
 */
export function HeldList({ children, hasSelection }: HeldListProps) {
  const list = useRef<HTMLDivElement>(null);
  const reasons = useRef({ pointer: false, focus: false });
  const update = () => {
    const { pointer, focus } = reasons.current;
    const isScrolled = (list.current?.scrollTop ?? 0) > 0;
    liveData.hold(hasSelection || pointer || focus || isScrolled);
  };
  const because = (reason: 'pointer' | 'focus', holds: boolean) => () => {
    reasons.current[reason] = holds;
    update();
  };
  useEffect(update, [hasSelection]);
  useEffect(() => () => liveData.hold(false), []);

  return (
    <div
      class="held-list"
      ref={list}
      onScroll={update}
      onPointerEnter={because('pointer', true)}
      onPointerLeave={because('pointer', false)}
      onFocusIn={because('focus', true)}
      onFocusOut={because('focus', false)}
    >
      {children}
    </div>
  );
}

interface ListHeadProps {
  readonly list: Rows<unknown>;
  /** Singular and plural. */
  readonly nouns: readonly [string, string];
  readonly order: string;
  /** A screen reader announces the result of a search, but not every new row. */
  readonly isSearch: boolean;
}

/** The number of rows, and a button that shows those held back. */
export function ListHead({ list, nouns, order, isSearch }: ListHeadProps) {
  const { rows, total, unseen } = list;
  const nounFor = (count: number) => nouns[count === 1 ? 0 : 1];
  return (
    <div class="list-head">
      <p class="muted list-count" role={isSearch ? 'status' : undefined}>
        {rows.length < total && `${writeCount(rows.length)} of `}
        {writeCount(total)} {nounFor(total)}, {order}
      </p>
      {unseen > 0 && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            document.querySelector('.held-list')?.scrollTo(0, 0);
            void liveData.showNewest().catch(() => undefined);
          }}
        >
          <span aria-hidden="true">↑ </span>
          {writeCount(unseen)} new {nounFor(unseen)}
        </button>
      )}
    </div>
  );
}
