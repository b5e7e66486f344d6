import type { Logger } from '../../src/protocol/logger.js';

export interface RecordedLine {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A logger, and the lines that it was given. */
export function recordLines(): { lines: RecordedLine[]; logger: Logger } {
  const lines: RecordedLine[] = [];
  const at = (level: keyof Logger) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, logger };
}

const diskIsFull = () => {
  throw new Error('the disk is full');
};

/** Loggers that fail. Vitest fails for an unhandled rejection. */
export const failingLoggers: readonly { how: string; logger: Logger }[] = [
  { how: 'throws', fail: diskIsFull },
  { how: 'rejects', fail: async () => diskIsFull() },
].map(({ how, fail }) => ({ how, logger: { debug: fail, info: fail, warn: fail, error: fail } }));
