import { describe, expect, test } from 'vitest';
import { callbackWalks } from './walks/callback.js';
import { clientWalks } from './walks/client.js';
import { receiverWalks } from './walks/receiver.js';
import { createWatch, type Walk } from './watch.js';

// exports.slow.test.ts walks every export, and the client with fetch, too.
const core = [
  '. PaymentClient',
  '. verifyCallback',
  './callback/web verifyCallback',
  './receiver createCallbackReceiver',
];
const walks = Object.entries({ ...clientWalks, ...callbackWalks, ...receiverWalks });
const { leaksOf } = createWatch();

describe.each(walks.filter(([id]) => core.includes(id)))(
  'no secret and no body is shown by %s',
  (_id, scenes) => {
    const names = Object.keys(scenes).filter((name) => !name.includes('fetch'));
    test.each(names)('%s', async (name) => {
      expect(await leaksOf(scenes[name] as Walk)).toEqual([]);
    });
  },
);
