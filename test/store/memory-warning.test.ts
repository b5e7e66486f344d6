import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { changeOf, order } from './orders.js';
import { outcomeOf } from './outcome-of.js';
import { unusedClient } from './unused-client.js';

async function receive(store: CallbackStore, ...references: string[]): Promise<void> {
  for (const referenceNumber of references) {
    await outcomeOf(store, changeOf({ referenceNumber }), async () => {});
  }
}

describe('the warning that a store in memory is not for production', () => {
  // Also after the last one: other files of the worker start processes with this environment.
  afterEach(() => void vi.unstubAllEnvs());

  /** As a new process sees the module. */
  async function load(environment: string | undefined) {
    vi.stubEnv('NODE_ENV', environment);
    vi.resetModules();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    return { warn, memory: await import('../../src/store/memory.js') };
  }

  it('is given once per process when NODE_ENV is production, at the first callback', async () => {
    const { warn, memory } = await load('production');
    const stores = [memory.memoryStore(), memory.memoryStore()];
    expect(warn).not.toHaveBeenCalled();
    for (const store of stores) await receive(store, 'a', 'b');
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(
        /^memoryStore forgets at each restart and shares nothing between instances/,
      ),
      { code: 'MERCHANT_PAYMENTS_MEMORY_STORE' },
    );
  });

  it('is given at the first payment too', async () => {
    const { warn, memory } = await load('production');
    const store = memory.memoryStore({ client: unusedClient });
    expect(warn).not.toHaveBeenCalled();
    await store.record(order('order-1'), { tx: undefined });
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each(['development', 'test', '', undefined])('is not given when it is %o', async (value) => {
    const { warn, memory } = await load(value);
    await receive(memory.memoryStore(), 'a');
    expect(warn).not.toHaveBeenCalled();
  });

  it('goes to the console where process can give none', async () => {
    const { memory } = await load('production');
    vi.stubGlobal('process', { env: { NODE_ENV: 'production' } });
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await receive(memory.memoryStore(), 'a', 'b').finally(() => vi.unstubAllGlobals());
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each(['AWS_LAMBDA_FUNCTION_NAME', 'VERCEL'])('is given where %s is set', async (name) => {
    const { warn, memory } = await load(undefined);
    vi.stubEnv(name, 'callbacks');
    await receive(memory.memoryStore(), 'a');
    expect(warn).toHaveBeenCalledOnce();
  });

  it('is given where there is no process, as in Workers', async () => {
    const { memory } = await load(undefined);
    vi.stubGlobal('process', undefined);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await receive(memory.memoryStore(), 'a', 'b').finally(() => vi.unstubAllGlobals());
    expect(warn).toHaveBeenCalledOnce();
  });
});
