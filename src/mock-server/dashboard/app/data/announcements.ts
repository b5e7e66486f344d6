import { useEffect, useState } from 'preact/hooks';
import type { ControlAttempt } from '../../../control/control-types.js';
import { describeOutcome } from './delivery-text.js';

type Listener = (text: string) => void;

/** Time for a screen reader's user to hear one sentence before the next; what came since is summed up. */
const PAUSE_MS = 1_000;

const listeners = new Set<Listener>();
// One sentence needs the last attempt only: a burst must not pile up.
let last: ControlAttempt | undefined;
let count = 0;

/** Says in the page's live region that an attempt to deliver a callback has ended. */
export function announce(attempt: ControlAttempt): void {
  last = attempt;
  count += 1;
  if (count === 1) window.setTimeout(speak, PAUSE_MS);
}

function speak(): void {
  if (last === undefined) return;
  const text = `Callback ${last.status} of ${last.merchantPaymentReference}: ${describeOutcome(last)}`;
  const summary = count > 1 ? `${count} callback attempts. The last one: ${text}` : text;
  last = undefined;
  count = 0;
  for (const listener of listeners) listener(summary);
}

export function useAnnouncement(): string {
  const [text, setText] = useState('');
  useEffect(() => {
    listeners.add(setText);
    return () => void listeners.delete(setText);
  }, []);
  return text;
}
