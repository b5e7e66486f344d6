import { StoreError } from '../../../src/errors.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import type { CallbackStore } from '../../../src/store/callback-store.js';
import { memoryStore } from '../../../src/store/memory.js';
import { now, sampleRecord } from '../../callback/sample-callback.js';
import { customer, signingBytes, signingText } from '../planted.js';
import type { See } from '../watch.js';
import { body, type PlantedSecret, record, signed } from './signed-callback.js';

// A store is handed no secret. What it is handed, and what it says when it fails with all that drivers add to their
// errors, is looked at all the same.

type Work = Parameters<CallbackStore<never>['process']>[1];

/** Callbacks of a planted payment through a store, with work that is done and that fails. */
export async function receiveBy<Tx>(
  see: See,
  store: CallbackStore<Tx>,
  work?: Work,
): Promise<void> {
  see('the store', store);
  const looking: CallbackStore<Tx> = {
    process({ payment, ...change }, run) {
      see('the change', change);
      see('its record', payment, 'the payment of a callback');
      return store.process({ payment, ...change }, run);
    },
    ...(store.attention && { attention: store.attention.bind(store) }),
  };
  let count = 0;
  const receiver = createCallbackReceiver<Tx>({
    now,
    signingSecret: signingText,
    store: looking,
    onError: (error) => see('what onError receives', error),
    onPayment: async (_callback, context) => {
      count += 1;
      if (count === 1) throw new Error('the first try fails');
      await work?.(context as never);
    },
  });
  const older = { ...record, updatedAt: sampleRecord().createdAt, status: 'pending' };
  for (const rawBody of [JSON.stringify(record), JSON.stringify(record), JSON.stringify(older)]) {
    const request = { method: 'POST', ...signed(signingText, { rawBody }) };
    see('the reply', await receiver.receive(request));
    see('the reply to a copy', await receiver.receive(request));
  }
  see('the store after its use', store);
}

/** Changes that fail with an error that shows all there is, are parked, replayed, listed and pruned. */
export async function keepFailures(see: See, signingSecret: PlantedSecret): Promise<void> {
  const bytes = signingSecret instanceof Uint8Array ? signingSecret : signingBytes;
  const secrets = [signingText, bytes.toString('hex'), bytes.toString('base64')];
  // With the body, a message is withheld whatever its secrets are.
  const messages = [secrets.join(' '), [body, ...secrets, customer].join(' ')];
  const receivers = messages.map((message) => {
    const store = memoryStore();
    const receiver = createCallbackReceiver({
      now,
      signingSecret: [signingSecret, signingText, signingBytes],
      store,
      parkAfter: 1,
      // What the merchant's own code throws reaches onError as it is.
      onError(error) {
        if (error instanceof StoreError) see('what onError receives', error);
      },
      onPayment: () => Promise.reject(Object.assign(new Error(message), { code: signingText })),
    });
    return { store, receiver };
  });
  const later = { ...record, updatedAt: '2026-01-31T12:00:06.000+00:00', status: 'settled' };
  for (const { store, receiver } of receivers) {
    for (const rawBody of [body, body, JSON.stringify(later)]) {
      const request = { method: 'POST', ...signed(signingSecret, { rawBody }) };
      see('the reply', await receiver.receive(request));
    }
    for await (const change of store.attention({ kinds: ['failed-change'] })) {
      if (change.kind !== 'failed-change') continue;
      // The reference is the merchant's own, and the body is kept for a replay.
      const { merchantPaymentReference, rawBody, ...kept } = change;
      see('the kept change', kept);
      see('the replay', await receiver.replay(change).catch((error: unknown) => error));
      await store.prune(new Date(change.lastFailedAt.getTime() + 3_600_000));
      see('the replay without a body', await receiver.replay(change));
    }
    see('the store', store);
    see('the receiver', receiver);
  }
}
