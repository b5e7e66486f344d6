import type { StatusChange } from '../../src/store/callback-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, order } from './change.js';

/** What a database that fails may hit. */
export interface Operation {
  readonly name: string;
  /** Whether it changes something. */
  readonly writes: boolean;
  run(store: PaymentStore<unknown>, scene: OperationScene): Promise<unknown>;
}

export interface OperationScene {
  /** Of an order that is recorded, and no other test has. */
  readonly recorded: string;
  /** Of one that is not. */
  readonly added: string;
  /** Called by the work. */
  readonly onWork: (event: StatusChange) => unknown;
}

/** Every operation that runs on a connection of its own. */
export const operations: readonly Operation[] = [
  // Before the callback, which tells of a payment of the same order: then create sends nothing.
  { name: 'create', writes: true, run: (store, { added }) => store.create(order(added)) },
  {
    name: 'process',
    writes: true,
    run(store, { added, onWork }) {
      const event = change(added);
      return outcomeOf(store, event, async () => void onWork(event));
    },
  },
  { name: 'send', writes: true, run: (store, { recorded }) => store.send(recorded) },
  { name: 'recover', writes: true, run: (store) => store.recover() },
  {
    name: 'markCreated',
    writes: true,
    run: (store, { recorded }) => store.markCreated(recorded, { referenceNumber: 'found' }),
  },
  {
    name: 'discard',
    writes: true,
    run: (store, { recorded }) =>
      store.discard({
        kind: 'no-callback',
        merchantPaymentReference: recorded,
        since: new Date(0),
        listedAt: new Date(0),
        attempts: 0,
        stored: undefined as never,
      }),
  },
  { name: 'prune', writes: true, run: (store) => store.prune(new Date(0)) },
  { name: 'get', writes: false, run: (store, { recorded }) => store.get(recorded) },
  { name: 'attention', writes: false, run: (store) => collect(store.attention()) },
];
