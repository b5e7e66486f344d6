import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallbackInbox } from '../../src/store/inbox.js';
import { sampleEvent } from './sample-event.js';

async function receive(inbox: CallbackInbox, ...references: string[]): Promise<void> {
  for (const paymentReference of references) {
    await inbox.process(sampleEvent({ paymentReference }), async () => {});
  }
}

describe('the warning that a memory inbox is not for production', () => {
  // Also after the last one: other files of the worker start processes with this environment.
  afterEach(() => void vi.unstubAllEnvs());

  /** As a new process sees the module. */
  async function load(environment: string | undefined) {
    vi.stubEnv('NODE_ENV', environment);
    vi.resetModules();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    return { warn, memory: await import('../../src/store/memory-inbox.js') };
  }

  it('is given once per process when NODE_ENV is production, at the first callback', async () => {
    const { warn, memory } = await load('production');
    const inboxes = [memory.memoryInbox(), memory.memoryInbox()];
    expect(warn).not.toHaveBeenCalled();
    for (const inbox of inboxes) await receive(inbox, 'a', 'b');
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^memoryInbox keeps its events only in this process/),
      { code: 'MERCHANT_PAYMENTS_MEMORY_INBOX' },
    );
  });

  it.each(['development', 'test', '', undefined])('is not given when it is %o', async (value) => {
    const { warn, memory } = await load(value);
    await receive(memory.memoryInbox(), 'a');
    expect(warn).not.toHaveBeenCalled();
  });

  it('goes to the console where process can give none', async () => {
    const { memory } = await load('production');
    vi.stubGlobal('process', { env: { NODE_ENV: 'production' } });
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await receive(memory.memoryInbox(), 'a', 'b').finally(() => vi.unstubAllGlobals());
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each(['AWS_LAMBDA_FUNCTION_NAME', 'VERCEL'])('is given where %s is set', async (name) => {
    const { warn, memory } = await load(undefined);
    vi.stubEnv(name, 'callbacks');
    await receive(memory.memoryInbox(), 'a');
    expect(warn).toHaveBeenCalledOnce();
  });

  it('is given where there is no process, as in Workers', async () => {
    const { memory } = await load(undefined);
    vi.stubGlobal('process', undefined);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await receive(memory.memoryInbox(), 'a', 'b').finally(() => vi.unstubAllGlobals());
    expect(warn).toHaveBeenCalledOnce();
  });
});
