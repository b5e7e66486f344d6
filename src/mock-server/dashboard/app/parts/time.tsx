import { useCallback } from 'preact/hooks';
import { useClockText } from '../data/service-clock.js';
import { writeAge, writeTimeNear } from '../data/time-text.js';

interface TimeProps {
  /** As the service wrote it; stands in the title. */
  readonly at: string;
  /** How it is to be read, kept up to date with the service's clock. */
  readonly write?: (at: string, nowMs: number) => string;
}

/** A time of the service's clock. */
export function Time({ at, write = writeTimeNear }: TimeProps) {
  const text = useClockText(useCallback((nowMs) => write(at, nowMs), [at, write]));
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

/** How long ago that was. */
export function Age({ at }: { at: string }) {
  return <Time at={at} write={writeAge} />;
}
