import { useId, useState } from 'preact/hooks';
import type { Tone } from './delivery-text.js';

interface BadgeProps {
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly sign?: string | undefined;
}

/** A word in a coloured box. The word says everything; the sign and the colour help to find it. */
export function Badge({ text, tone = 'neutral', sign }: BadgeProps) {
  return (
    <span class={`badge ${tone}`}>
      {sign !== undefined && <span aria-hidden="true">{sign} </span>}
      <bdi>{text}</bdi>
    </span>
  );
}

/** A payment's status, which can be any text. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge text={status} tone={status === 'paid' ? 'good' : 'neutral'} />;
}

interface TextProps {
  readonly label: string;
  readonly text: string;
}

/** Copies a text; where the browser does not allow it, shows the text for copying by hand. */
export function CopyButton({ label, text }: TextProps) {
  const [said, setSaid] = useState('');
  const [isShown, setShown] = useState(false);

  async function copy(): Promise<void> {
    try {
      // Missing on a page that was loaded by plain http from another machine.
      await navigator.clipboard.writeText(text);
      setShown(false);
      setSaid('Copied.');
    } catch {
      setShown(true);
      setSaid('The browser does not allow it here; copy the text below.');
    }
  }

  return (
    <>
      <span class="copy">
        <button type="button" class="button plain small" onClick={() => void copy()}>
          {label}
        </button>
        <span role="status">{said}</span>
      </span>
      {isShown && <textarea readOnly rows={6} aria-label={label} value={text} />}
    </>
  );
}

/** A text exactly as it was sent. */
export function RawText({ label, text }: TextProps) {
  const id = useId();
  return (
    <div class="raw">
      <p class="raw-title" id={id}>
        {label}
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

/** Headers, one per line. */
export function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return <RawText label="Headers" text={lines.join('\n')} />;
}
