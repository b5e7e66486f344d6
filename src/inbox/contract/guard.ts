import type { ContractCase } from './case.js';
import type { Stage } from './stage.js';

/**
 * Runs a case, and leaves nothing of it running unless the store hangs.
 *
 * @throws what the case throws, or an error that says that it has not ended in time
 */
export async function runUnderGuard(
  stage: Stage,
  { name, run, timeoutMs }: Pick<ContractCase, 'name' | 'run'> & { timeoutMs: number },
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<'expired'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'expired');
  });
  const inTime = async (end: Promise<void>): Promise<void> => {
    if ((await Promise.race([end, expired])) !== 'expired') return;
    throw new Error(
      `"${name}" has not ended after ${timeoutMs} ms: a call of process has not settled, or a signal that should abort has not. The store may hang, or let a delivery wait for one that can't end before it`,
    );
  };
  try {
    await inTime(run(stage));
    await inTime(stage.end());
  } catch (error) {
    // The runner closes the store next. A store that hangs as well must not hide the error.
    await inTime(stage.end()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
