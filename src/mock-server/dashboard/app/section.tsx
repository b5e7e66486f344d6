import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

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
export function Page({ title, children }: SectionProps) {
  const id = useId();
  return (
    <section class="page" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
