import type { CallbackStore, StoreContext } from '../../../src/store/callback-store.js';
import type { StoreClient } from '../../../src/store/options.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import { type Delivery, PAYMENTS } from './deliveries.js';
import type { Promises } from './model.js';

/** What a kind of store can be put through. */
export interface StoreUnderTest extends Promises {
  readonly name: string;
  /** Whether a delivery can be under way while others come; a PGlite is one connection. */
  readonly concurrent: boolean;
  /**
   * What becomes of a holder that is taken for dead: its claim `expires` and is there for the taking,
   * or its transaction is `lost` at once, with its work undone. Without it nothing can be.
   */
  readonly death?: 'expires' | 'lost';
  /** A fresh, empty store in its own `namespace`. */
  create(namespace: string): Promise<OpenStore>;
}

export interface OpenStore {
  /** Two, as two processes would have them, where the store is not of one process. */
  readonly stores: readonly CallbackStore<unknown>[];
  /** One of them, if they create payments. */
  readonly payments?: PaymentStore<unknown> | undefined;
  /** Takes the holder for dead. */
  kill?(delivery: Delivery): Promise<void>;
  /** Writes an effect with the store's own transaction, where it has one. */
  writeEffect?(context: StoreContext<unknown>, delivery: Delivery): Promise<void>;
  /** The names of the changes whose effects are there. */
  readEffects?(): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** Creates the same payment of every order. */
export const client: StoreClient = {
  payments: {
    create: async () =>
      ({
        payment: { referenceNumber: PAYMENTS[0] },
        response: { status: 201, headers: {}, body: {}, text: '', attempts: 1 },
      }) as never,
  },
};
