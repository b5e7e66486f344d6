import { useEffect, useState } from 'preact/hooks';
import type { ControlAttempt } from '../../control/control-types.js';
import { describeOutcome } from './delivery-text.js';

/** Time for a screen reader to finish a sentence; what happens meanwhile is summarised in the next one. */
const PAUSE_MS = 1_000;

const listeners = new Set<(text: string) => void>();
// Only the last attempt is kept, so that a burst does not pile up.
let lastAttempt: ControlAttempt | undefined;
let attemptCount = 0;

/** Announces in the page's live region that an attempt to deliver a callback has ended. */
export function announce(attempt: ControlAttempt): void {
  lastAttempt = attempt;
  attemptCount += 1;
  if (attemptCount === 1) window.setTimeout(speak, PAUSE_MS);
}

function speak(): void {
  if (lastAttempt === undefined) return;
  const { status, merchantPaymentReference } = lastAttempt;
  const text = `Callback ${status} of ${merchantPaymentReference}: ${describeOutcome(lastAttempt)}`;
  const summary =
    attemptCount > 1 ? `${attemptCount} callback attempts. The last one: ${text}` : text;
  lastAttempt = undefined;
  attemptCount = 0;
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
