import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import * as callback from '../../src/callback/verify.js';
import * as web from '../../src/callback/web/verify.js';
import { CallbackVerificationError } from '../../src/errors.js';
import { now, SECRET, sampleRequest } from './sample-callback.js';

// Writes 'q' and 'p' in turn over the first letter of `paid`.
const FLIP = `
  const { workerData: { bytes, index }, parentPort } = require('node:worker_threads');
  parentPort.postMessage('started');
  for (;;) bytes[index] ^= 1;
`;

it.each([
  ['node:crypto', callback.verifyCallback],
  ['WebCrypto', web.verifyCallback],
])(
  '%s verifies what it parses, while another thread writes into the body',
  async (_name, verify) => {
    const { rawBody, headers } = sampleRequest();
    const text = String(rawBody);
    const bytes = new Uint8Array(new SharedArrayBuffer(text.length));
    bytes.set(Buffer.from(text));
    const workerData = { bytes, index: text.indexOf('paid') };
    const worker = new Worker(FLIP, { eval: true, workerData });
    onTestFinished(async () => void (await worker.terminate()));
    await new Promise((resolve) => worker.once('message', resolve));

    const altered: string[] = [];
    for (let turn = 0; turn < 2_000; turn += 1) {
      try {
        const { payment } = await verify(
          { rawBody: bytes, headers },
          { signingSecret: SECRET, now },
        );
        if (payment.status !== 'paid') altered.push(payment.status);
      } catch (error) {
        expect(error).toBeInstanceOf(CallbackVerificationError);
      }
    }
    expect(altered).toEqual([]);
  },
);
