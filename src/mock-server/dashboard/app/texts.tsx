import { useId, useState } from 'preact/hooks';
import type { Tone } from './lines.js';

interface BadgeProps {
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly sign?: string | undefined;
}

/** A coloured label. The text says everything; the sign and the colour only help to find it. */
export function Badge({ text, tone = 'neutral', sign }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={text}>
      {sign !== undefined && <span aria-hidden="true">{sign} </span>}
      <bdi>{text}</bdi>
    </span>
  );
}

// The interface names only `paid`, so other statuses are recognised by the words that payment services use.
// The first match counts: "partially refunded" is money returned.
const kinds: readonly { tone: Tone; sign: string; words: RegExp }[] = [
  { tone: 'returned', sign: '↩', words: /refund|revers|charge.?back|disput/i },
  { tone: 'bad', sign: '✕', words: /fail|declin|reject|refus|error|fraud|den(y|ied)/i },
  { tone: 'neutral', sign: '∅', words: /cancel|expire|void|abandon|abort|unpaid/i },
  { tone: 'waiting', sign: '◔', words: /pend|process|wait|review|progress|hold|held/i },
  { tone: 'good', sign: '✓', words: /paid|settle|captur|complet|succe|confirm/i },
  { tone: 'info', sign: '○', words: /creat|new|open|init|authori/i },
];

/** A payment's status, which can be any text. */
export function StatusBadge({ status }: { status: string }) {
  const { tone, sign } = kinds.find(({ words }) => words.test(status)) ?? { sign: '◇' };
  return <Badge text={status} tone={tone} sign={sign} />;
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
        <button type="button" class="button plain" onClick={() => void copy()}>
          {label}
        </button>
        <span role="status">{said}</span>
      </span>
      {isShown && <textarea readOnly rows={6} aria-label={label} value={text} />}
    </>
  );
}

/** A long line breaks here rather than within a word. */
const AFTER_COMMA = /(?<=,)/;

/** A text exactly as it is; `mark` is its highlighted start. */
export function RawText({ label, text, mark = '' }: TextProps & { readonly mark?: string }) {
  const id = useId();
  return (
    <div>
      <p class="label" id={id}>
        {label}
      </p>
      {text === '' ? (
        <p class="muted">Empty</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, by the keyboard too
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
        <pre tabIndex={0} role="group" aria-labelledby={id}>
          {mark !== '' && <mark>{mark}</mark>}
          {text
            .slice(mark.length)
            .split(AFTER_COMMA)
            .flatMap((part) => [part, <wbr key={part} />])}
        </pre>
      )}
    </div>
  );
}

/** A body; JSON is laid out. */
export function Body({ label, text }: TextProps) {
  return <RawText label={label} text={layOutJson(text)} />;
}

export function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return <RawText label="Headers" text={lines.join('\n')} />;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Longer texts are shown as they are: laying them out would block the page. */
const MAX_LENGTH = 32_768;
const MAX_INDENT = 40;

/**
 * Lays out JSON with line breaks and indents; returns any other text as it is. Numbers and strings stay as
 * written: parsing and serialising `1.10` or a long number would change it.
 */
function layOutJson(text: string): string {
  if (text.length > MAX_LENGTH || !isJson(text)) return text;
  const pieces = text.match(TOKEN) ?? [];
  let depth = 0;
  return pieces
    .map((piece, index) => {
      const after = pieces[index + 1] ?? '';
      if ('{['.includes(piece)) depth += 1;
      if (after !== '' && '}]'.includes(after)) depth -= 1;
      if (piece === ':') return ': ';
      const isPair = '{['.includes(piece) && '}]'.includes(after);
      const ends = after !== '' && ('{[,'.includes(piece) || '}]'.includes(after));
      return ends && !isPair ? `${piece}\n${'  '.repeat(Math.min(depth, MAX_INDENT))}` : piece;
    })
    .join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
