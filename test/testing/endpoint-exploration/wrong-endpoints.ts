import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { ExplorationInvariant } from '../../../src/testing/endpoint-exploration/invariants.js';
import type { ExplorationStep } from '../../../src/testing/endpoint-exploration/script.js';
import { type Callback, Shop } from '../endpoint-check/shop.js';

/** An endpoint that is wrong under a certain schedule alone. */
interface WrongEndpoint {
  readonly flaw: string;
  readonly create: () => RestartableShop;
  readonly seed: number;
  readonly invariant: ExplorationInvariant;
  /** The shortest script. */
  readonly script: readonly ExplorationStep[];
}

export class RestartableShop extends Shop {
  /** What is lost with the process. */
  forget(): void {
    this.running.clear();
  }
}

/** Knows the payment of a callback whose body did not arrive whole. */
abstract class PartReader extends RestartableShop {
  protected abstract broken(referenceNumber: string): void;
  protected override async read(request: IncomingMessage): Promise<Buffer | undefined> {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    try {
      await once(request, 'end');
      return Buffer.from(text);
    } catch (error) {
      const referenceNumber = /"referenceNumber":"([^"]*)"/.exec(text)?.[1];
      if (referenceNumber !== undefined) this.broken(referenceNumber);
      throw error;
    }
  }
}

const deliver = (change: 'before' | 'paid' | 'after', payment = 1) =>
  ({ do: 'deliver', payment, change }) as const;

export const wrongEndpoints: readonly WrongEndpoint[] = [
  {
    flaw: 'knows duplicates by their payment',
    create: () =>
      new (class extends RestartableShop {
        protected override changeOf({ referenceNumber }: PaymentStatusRecord): string {
          return referenceNumber;
        }
      })(),
    seed: 1,
    invariant: 'in-effect',
    script: [deliver('before'), deliver('paid')],
  },
  {
    flaw: 'forgets on a restart what it processed',
    create: () =>
      new (class extends RestartableShop {
        override forget(): void {
          super.forget();
          this.processed.clear();
        }
      })(),
    seed: 2,
    invariant: 'once',
    script: [deliver('paid'), { do: 'restart' }, deliver('paid')],
  },
  {
    flaw: 'lets the last write win',
    create: () =>
      new (class extends RestartableShop {
        protected override isOlder(): boolean {
          return false;
        }
      })(),
    seed: 26,
    invariant: 'newest-status',
    script: [deliver('after'), deliver('before')],
  },
  {
    flaw: 'marks a change as processed before its work, which a broken connection cancels',
    create: () =>
      new (class extends RestartableShop {
        #response: ServerResponse | undefined;
        protected override async respond(
          request: IncomingMessage,
          response: ServerResponse,
          body: Buffer | undefined,
        ): Promise<void> {
          this.#response = response;
          await super.respond(request, response, body);
        }
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const response = this.#response as ServerResponse;
          const change = this.changeOf(payment, callback);
          if (this.processed.has(change)) return 200;
          this.processed.add(change);
          let isBroken = false;
          response.once('close', () => {
            isBroken = true;
          });
          await sleep(30);
          // A connection that broke meanwhile is seen by now, however busy the machine is.
          for (let turn = 0; turn < 3; turn += 1) await nextTurn();
          if (!isBroken) this.act(payment);
          return 200;
        }
      })(),
    seed: 1,
    invariant: 'in-effect',
    script: [{ do: 'lose-answer', payment: 1, change: 'paid' }],
  },
  {
    flaw: 'looks first and records afterwards',
    create: () =>
      new (class extends RestartableShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const change = this.changeOf(payment, callback);
          if (this.processed.has(change)) return 200;
          // As long as a slow database takes: the other delivery is here by then, on a busy machine too.
          await sleep(60);
          this.act(payment);
          this.processed.add(change);
          return 200;
        }
      })(),
    seed: 2,
    invariant: 'once',
    script: [deliver('paid'), { ...deliver('paid'), atOnce: true }],
  },
  {
    flaw: 'knows duplicates by their signature',
    create: () =>
      new (class extends RestartableShop {
        protected override changeOf(_: PaymentStatusRecord, { headers }: Callback): string {
          return String(headers['x-signature']);
        }
      })(),
    seed: 9,
    invariant: 'once',
    script: [deliver('paid'), { ...deliver('paid'), lateSeconds: 143 }],
  },
  {
    flaw: 'remembers the last change alone',
    create: () =>
      new (class extends RestartableShop {
        protected override act(payment: PaymentStatusRecord): void {
          this.processed.clear();
          super.act(payment);
        }
      })(),
    // Nothing is sent at once in its schedule: which of two arrives first is up to the machine, and with it
    // what the script shrinks to.
    seed: 137,
    invariant: 'once',
    script: [deliver('paid'), deliver('after', 2), deliver('paid')],
  },
  {
    flaw: 'never frees the payment of a connection that broke',
    create: () =>
      new (class extends PartReader {
        readonly #locked = new Set<string>();
        protected override broken(referenceNumber: string): void {
          this.#locked.add(referenceNumber);
        }
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (this.#locked.has(payment.referenceNumber)) return 503;
          return super.process(payment, callback);
        }
      })(),
    seed: 11,
    invariant: 'accepted',
    script: [{ do: 'drop', payment: 1, change: 'paid' }],
  },
  {
    flaw: 'acts on what arrived before the connection broke',
    create: () =>
      new (class extends PartReader {
        protected override broken(referenceNumber: string): void {
          this.orders.count({ referenceNumber } as PaymentStatusRecord);
        }
      })(),
    seed: 11,
    invariant: 'no-early-effect',
    script: [{ do: 'drop', payment: 1, change: 'paid' }],
  },
];
