/** Records the unhandled rejections, uncaught exceptions and warnings of this process. */
export interface ProcessWatch {
  /** Throws for what was noted since it began. */
  assertQuiet(): void;
  stop(): void;
}

const EVENTS = ['unhandledRejection', 'uncaughtException', 'warning'] as const;

export function watchProcess(): ProcessWatch {
  const noted: unknown[] = [];
  const note = (what: unknown): void => void noted.push(what);
  for (const event of EVENTS) process.on(event, note);
  return {
    assertQuiet() {
      if (noted.length === 0) return;
      // Told once: what failed before must not fail every smaller case that is tried after it.
      const said = noted.splice(0);
      throw new AggregateError(said, `The process said: ${said.map(String).join('; ')}`);
    },
    stop() {
      for (const event of EVENTS) process.off(event, note);
    },
  };
}
