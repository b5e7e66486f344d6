import { useId } from 'preact/hooks';

interface RawTextProps {
  readonly title: string;
  readonly text: string;
}

/** A text exactly as it went over the wire. */
export function RawText({ title, text }: RawTextProps) {
  const id = useId();
  return (
    <div class="raw">
      <p class="raw-title" id={id}>
        {title}
      </p>
      {text === '' ? (
        <p class="muted">No body</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, by the keyboard too
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
        <pre tabIndex={0} role="group" aria-labelledby={id}>
          {text}
        </pre>
      )}
    </div>
  );
}

/** Headers, one a line. */
export function writeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
