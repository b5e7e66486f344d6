import { ApiError, ConnectionError, RequestTimeoutError, ResponseError } from '../../src/errors.js';
import { checkLeft } from './order-claims.js';
import { LEASE_MS, LIFETIME_MS, type Status } from './scene.js';
import { REFERENCE } from './tables.js';
import type { World } from './world.js';

/** A payment at the service. */
export interface Payment {
  readonly number: string;
  /** The merchant's reference. */
  readonly reference: string;
  /** Whether the store has sent it. */
  readonly isOurs: boolean;
}

interface Request {
  readonly reference: string;
  /** Until when the service may act on it. */
  readonly untilMs: number;
  act?: string;
  payment?: Payment;
}

/** The client, the network and the service: requests that are acted on late, and answers that are lost. */
export class Service {
  readonly payments: Payment[] = [];
  /** The payment of which the answer to an actor has told. */
  readonly answered = new Map<string, string>();
  readonly #requests: Request[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  get ours(): readonly Payment[] {
    return this.payments.filter(({ isOurs }) => isOurs);
  }

  oursOf(wanted: string): readonly Payment[] {
    return this.ours.filter(({ reference }) => reference === wanted);
  }

  /** Whether a request is under way that may still create a payment. */
  isAwaited(reference: string): boolean {
    return this.#requests.some((one) => one.reference === reference && this.#mayAct(one));
  }

  get hasRefused(): boolean {
    return this.#requests.some(({ act }) => act === 'refuses');
  }

  /** Sends a creation, as `payments.create` does. */
  async send(actor: string, reference: string): Promise<unknown> {
    const { turns, tables, scene } = this.#world;
    const claimedAtMs = tables.row(reference)?.sentAtMs ?? turns.nowMs;
    const left = await turns.step(actor, () => ['leaves', 'has no connection']);
    if (left !== 'leaves') throw new ConnectionError('not sent', { requestOutcome: 'not-sent' });
    checkLeft(this.#world, reference);
    // The assumption counts from the claim, with stalls. A process that does not stall leaves within its lease.
    const leastMs = scene.stalls ? 0 : turns.nowMs + LIFETIME_MS - LEASE_MS;
    const request: Request = { reference, untilMs: Math.max(claimedAtMs + LIFETIME_MS, leastMs) };
    this.#requests.push(request);
    this.#receive(request);
    const heard = await turns.step(actor, () => this.#answersTo(request));
    if (heard === 'answer' && request.payment) this.answered.set(actor, request.payment.number);
    return { payment: this.#toAnswer(heard, request) };
  }

  #receive(request: Request): void {
    const { turns, scene } = this.#world;
    const { acts = ['creates'] } = scene;
    const name = `request${this.#requests.length}`;
    if (turns.isAuto) {
      this.#serve(request, 'creates');
      return;
    }
    this.#world.act(name, async () => {
      const act = await turns.step(name, () => (this.#mayAct(request) ? acts : []));
      this.#serve(request, act);
    });
  }

  #mayAct({ act, untilMs }: Request): boolean {
    const { turns, scene } = this.#world;
    return act === undefined && (scene.late === true || turns.nowMs < untilMs);
  }

  #serve(request: Request, act: string): void {
    request.act = act;
    if (act !== 'creates') return;
    const { reference } = request;
    const [known] = this.oursOf(reference);
    const earlier = this.#world.scene.idempotency === 'kept' ? known : undefined;
    request.payment = earlier ?? this.create(true, reference);
  }

  #answersTo({ act, payment }: Request): readonly string[] {
    const { answers = [] } = this.#world.scene;
    const also = (...wanted: string[]) => answers.filter((answer) => wanted.includes(answer));
    if (act === undefined) return ['gives up', ...also('page', 'false success', 'false record')];
    return ['answer', 'lost', ...also('page', ...(payment ? ['bare', 'conflict'] : []))];
  }

  #toAnswer(heard: string, { act, payment }: Request): object {
    const outcome = { requestOutcome: 'unknown' } as const;
    switch (heard) {
      case 'gives up':
        throw new RequestTimeoutError('no answer', outcome);
      case 'lost':
        throw new ConnectionError('lost', outcome);
      case 'page':
        throw new ResponseError('a page', outcome);
      // The client's own retry of a request that was acted on.
      case 'conflict':
        throw refusal(409);
      case 'answer':
        if (payment !== undefined) return { referenceNumber: payment.number, status: 'pending' };
        throw act === 'refuses' ? refusal(422) : refusal(429);
      // A record that a proxy has made up.
      case 'false record':
        return { referenceNumber: 'made up', status: 'pending' };
      // A success without a record, which a proxy may have made up.
      default:
        throw new ResponseError('no record', { requestOutcome: 'accepted' });
    }
  }

  /** A payment comes into being, and its changes are delivered from now on. */
  create(isOurs: boolean, reference: string = REFERENCE): Payment {
    const number = `payment-${this.payments.length + 1}`;
    const payment = { number, reference, isOurs };
    this.payments.push(payment);
    for (const change of this.#changesOf(payment)) {
      this.#world.deliver({ ...change, number, reference });
    }
    return payment;
  }

  #changesOf(payment: Payment): readonly Status[] {
    const { changes = [], ownChanges, foreignChanges } = this.#world.scene;
    if (payment.isOurs)
      return ownChanges?.[this.ours.indexOf(payment)] ?? ownChanges?.at(-1) ?? changes;
    const foreign = this.payments.filter(({ isOurs }) => !isOurs);
    return foreignChanges?.[foreign.indexOf(payment)] ?? changes;
  }

  /** What someone finds who looks a reference up: its first payment. */
  find(wanted: string): { readonly referenceNumber: string; readonly status: string } | undefined {
    const first = this.payments.find(({ reference }) => reference === wanted);
    if (first === undefined) return undefined;
    return {
      referenceNumber: first.number,
      status: this.#changesOf(first).at(-1)?.status ?? 'pending',
    };
  }

  state(): unknown {
    const { turns } = this.#world;
    const requests = this.#requests.map(({ reference, act, payment, untilMs }) => [
      reference,
      act,
      payment?.number,
      act === undefined && turns.ageOf(untilMs, 0),
    ]);
    return [this.payments, requests];
  }
}

function refusal(status: number): ApiError {
  return new ApiError('refused', {
    requestOutcome: 'rejected',
    safeToRetry: status === 429,
    serviceCode: '1001',
    response: { status, headers: {}, body: undefined } as never,
  });
}
