import { describe, expect, it, vi } from 'vitest';
import { type Logger, writeLine } from '../../src/protocol/logger.js';
import { waitFor } from '../wait-for.js';

const line = { fields: { code: 'X' }, message: 'request failed' };
const levels = ['debug', 'info', 'warn', 'error'] as const;

/** A logger of which every method does the same. */
function loggerOf(method: (this: unknown, ...line: unknown[]) => unknown): Logger {
  return Object.fromEntries(levels.map((level) => [level, method])) as unknown as Logger;
}

class Bound {
  readonly #lines: unknown[] = [];
  debug(...line: unknown[]): void {
    this.#lines.push(line);
  }
}
const { debug } = Bound.prototype;

describe('a logger that fails', () => {
  it.each<[string, Logger, string]>([
    [
      'throws',
      loggerOf(() => {
        throw new RangeError('postgres://user:planted@host is full');
      }),
      'RangeError',
    ],
    ['rejects', loggerOf(async () => Promise.reject(new RangeError('planted'))), 'RangeError'],
    ['has methods that are not bound', loggerOf(debug as never), 'TypeError'],
    [
      'throws what is no error',
      loggerOf(() => {
        throw 'planted';
      }),
      'string',
    ],
  ])('and %s is reported once by the process', async (_how, logger, name) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    for (const level of [...levels, ...levels]) {
      writeLine(logger, level, line);
      await Promise.resolve();
    }
    await waitFor(() => expect(warn).toHaveBeenCalledOnce());
    expect(warn).toHaveBeenCalledWith(
      `The logger's debug failed with ${name}, so lines of merchant-payments are lost. Pass the logger itself, or methods that are bound to it`,
      { code: 'LOGGER_FAILED' },
    );
  });

  it('is reported for each logger', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    for (let count = 0; count < 2; count += 1) {
      const logger = loggerOf(() => {
        throw new Error('full');
      });
      writeLine(logger, 'warn', line);
    }
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it('is not reported while it works', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const lines: unknown[] = [];
    writeLine(
      loggerOf((...written) => void lines.push(written)),
      'info',
      line,
    );
    expect(lines).toEqual([[{ code: 'X' }, 'merchant-payments: request failed']]);
    expect(warn).not.toHaveBeenCalled();
  });
});
