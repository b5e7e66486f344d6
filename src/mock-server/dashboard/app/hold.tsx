import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { writeCount } from './format.js';
import { liveData } from './live-data.js';

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

/** Shows the rows that are held back. */
export function UnseenRows({ count, what }: { count: number; what: string }) {
  if (count === 0) return null;
  return (
    <button
      type="button"
      class="button small"
      onClick={() => {
        document.querySelector('.held-list')?.scrollTo(0, 0);
        void liveData.showNewest().catch(() => undefined);
      }}
    >
      <span aria-hidden="true">↑ </span>
      {writeCount(count)} new {what}
    </button>
  );
}
