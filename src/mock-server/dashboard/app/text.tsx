import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { layOutJson } from './json-text.js';
import { kindOfStatus, type Tone } from './status-kind.js';

interface BadgeProps {
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly sign?: string | undefined;
}

/** A coloured label. The text says everything; the sign and the colour only help to find it. */
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
  return <Badge text={status} {...kindOfStatus(status)} />;
}

interface DetailsProps {
  readonly class: string;
  readonly summary: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Draws its content only while it is open: a page may have hundreds. */
export function Details({ class: className, summary, children }: DetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class={className} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}

interface TextProps {
  readonly label: string;
  readonly text: string;
}

/** Copies a text. If the browser does not allow it, shows the text to copy by hand. */
export function CopyButton({ label, text }: TextProps) {
  const [said, setSaid] = useState('');
  const [isShown, setShown] = useState(false);

  async function copy(): Promise<void> {
    try {
      // A page loaded over http from another machine has no clipboard.
      await navigator.clipboard.writeText(text);
      setShown(false);
      setSaid('Copied.');
    } catch {
      setShown(true);
      setSaid('The browser does not allow this here; copy the text below.');
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

interface RawTextProps extends TextProps {
  /** How many characters at the start are marked. */
  readonly markedLength?: number | undefined;
  /** Beside the label. */
  readonly children?: ComponentChildren;
  /** Whether JSON is laid out. */
  readonly isPretty?: boolean | undefined;
}

/** A text exactly as it was sent, unless `isPretty`. */
export function RawText({ label, text, markedLength = 0, isPretty, children }: RawTextProps) {
  const id = useId();
  return (
    <div>
      <div class="card-head">
        <p class="raw-title" id={id}>
          {label}
        </p>
        {children}
      </div>
      {text === '' ? (
        <p class="muted">No body</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, by the keyboard too
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
        <pre tabIndex={0} role="group" aria-labelledby={id}>
          {markedLength > 0 && <mark>{text.slice(0, markedLength)}</mark>}
          {isPretty ? <PrettyJson text={text} /> : text.slice(markedLength)}
        </pre>
      )}
    </div>
  );
}

function PrettyJson({ text }: { text: string }) {
  const tokens = layOutJson(text);
  if (tokens === undefined) return <>{text}</>;
  return (
    <>
      {tokens.map(({ kind, text: piece }, index) =>
        kind === 'mark' ? (
          piece
        ) : (
          <span key={index} class={`json-${kind}`}>
            {piece}
          </span>
        ),
      )}
    </>
  );
}

// The last choice, for every body that is shown next.
let prefersRaw = false;

/** A body, laid out or byte for byte. */
export function Body({ label, text }: TextProps) {
  const [isRaw, setRaw] = useState(prefersRaw);
  const choose = (chosen: boolean) => {
    prefersRaw = chosen;
    setRaw(chosen);
  };
  const toggle = (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div class="form-row" role="group" aria-label={`Format of the ${label.toLowerCase()}`}>
      {[false, true].map((value) => (
        <button
          key={String(value)}
          type="button"
          class="button small"
          aria-pressed={isRaw === value}
          onClick={() => choose(value)}
        >
          {value ? 'Raw' : 'Pretty'}
        </button>
      ))}
    </div>
  );
  return (
    <RawText label={label} text={text} isPretty={!isRaw}>
      {text !== '' && toggle}
    </RawText>
  );
}

export function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return <RawText label="Headers" text={lines.join('\n')} />;
}
