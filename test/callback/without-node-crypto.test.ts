import { expect, it, onTestFinished, vi } from 'vitest';
import { now, SECRET, sampleRequest } from './sample-callback.js';

it.each([
  ['no process', undefined],
  ['a process without getBuiltinModule', { env: {} }],
  ['a process without node:crypto', { getBuiltinModule: () => undefined }],
])('names the asynchronous verifier in a runtime with %s', async (_, process) => {
  // A verifier made before would have loaded it.
  vi.resetModules();
  const { createCallbackVerifier } = await import('../../src/callback/verify.js');
  vi.stubGlobal('process', process);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => createCallbackVerifier({ signingSecret: 'planted-secret' })).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'signingSecret',
      message: expect.stringMatching(/lacks node:crypto; use verifyCallbackAsync or/),
    }),
  );
});

it('verifies asynchronously in such a runtime', async () => {
  vi.resetModules();
  const { verifyCallbackAsync } = await import('../../src/callback/index.js');
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  const options = { signingSecret: SECRET, now };
  expect((await verifyCallbackAsync(sampleRequest(), options)).secretIndex).toBe(0);
});
