import { useState } from 'preact/hooks';

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
}

/** Copies a text; where the browser does not let it, shows the text for copying by hand. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const [said, setSaid] = useState('');
  const [isShown, setShown] = useState(false);

  async function copy(): Promise<void> {
    try {
      // Absent on a page that came by plain http from another machine.
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
