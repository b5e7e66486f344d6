import { expect, it, onTestFinished, vi } from 'vitest';

it.each([
  ['no process', undefined],
  ['a process without getBuiltinModule', { env: {} }],
  ['a process without node:crypto', { getBuiltinModule: () => undefined }],
])('names the subpath for a runtime with %s', async (_, process) => {
  // A verifier made before would have loaded it.
  vi.resetModules();
  const { createCallbackVerifier } = await import('../../src/callback/verify.js');
  vi.stubGlobal('process', process);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => createCallbackVerifier({ signingSecret: 'planted-secret' })).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'signingSecret',
      message: expect.stringMatching(/lacks node:crypto; import merchant-payments\/callback\/web$/),
    }),
  );
});
