import { randomUUID } from 'node:crypto';
import type { PaymentClientOptions } from '../../../src/client/options.js';
import { PaymentClient } from '../../../src/client/payment-client.js';
import type { CreatePaymentInput } from '../../../src/protocol/payment.js';
import { createGate, type Gate } from '../gate.js';
import { recordOf } from './changes.js';

/**
 * How the service answers.
 *
 * - `created`: 201 with the record of a new payment.
 * - `answer-lost`: the payment is created, but the connection breaks before the answer.
 * - `body-lost`: 201, but the connection breaks during the body.
 * - `refused`: no connection, so nothing is sent.
 * - a number: that status, and nothing is created.
 */
export type AnswerKind = 'created' | 'answer-lost' | 'body-lost' | 'refused' | number;

interface Request {
  readonly reference: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A request that the service holds without answering. */
export interface HeldRequest {
  /** Resolves when it was received. */
  readonly received: Promise<void>;
  /** Answers it. */
  answer(kind?: AnswerKind): void;
}

interface Hold {
  readonly received: Gate<void>;
  readonly answer: Gate<AnswerKind>;
}

// Never used: the client sends through its `fetch` option.
const PORT = 9;

/** The service as the stores of one case see it. */
export class ContractService {
  /** A client that sends each request once. */
  readonly client = this.createClient();
  readonly #requests: Request[] = [];
  readonly #created: { reference: string; referenceNumber: string }[] = [];
  readonly #answers = new Map<string, AnswerKind[]>();
  readonly #holds = new Map<string, Hold>();
  readonly #allHolds: Hold[] = [];

  /** With `idempotency`, the service keeps the promise: it answers a repetition with the earlier payment. */
  createClient(options: Pick<PaymentClientOptions, 'idempotency'> = {}): PaymentClient {
    return new PaymentClient({
      baseUrl: `http://127.0.0.1:${PORT}`,
      apiKey: 'key',
      apiSecret: 'secret',
      maxRetries: 0,
      fetch: (_url, init) =>
        this.#fetch(String(init?.body), { recognises: options.idempotency !== undefined }),
      ...options,
    });
  }

  /** The bodies of the requests for a reference. */
  requestsFor(reference: string): Request['body'][] {
    return this.#requests.filter((one) => one.reference === reference).map(({ body }) => body);
  }

  /** The `referenceNumber` of each payment that exists for a reference. */
  paymentsOf(reference: string): string[] {
    return this.#created
      .filter((one) => one.reference === reference)
      .map(({ referenceNumber }) => referenceNumber);
  }

  /** Sets the answers to the next requests for a reference, in order; later requests get `created`. */
  answer(reference: string, ...kinds: readonly AnswerKind[]): void {
    this.#answers.set(reference, [...kinds]);
  }

  /** Holds the next request for a reference. */
  hold(reference: string): HeldRequest {
    const hold: Hold = { received: createGate(), answer: createGate() };
    this.#holds.set(reference, hold);
    this.#allHolds.push(hold);
    return {
      received: hold.received.promise,
      answer: (kind = 'created') => hold.answer.open(kind),
    };
  }

  /** Answers all held requests. */
  end(): void {
    for (const { answer } of this.#allHolds) answer.open('created');
  }

  async #fetch(json: string, { recognises }: { recognises: boolean }): Promise<Response> {
    const body = JSON.parse(json) as CreatePaymentInput & Record<string, unknown>;
    const { merchantPaymentReference: reference } = body;
    this.#requests.push({ reference, body });
    const kind = await this.#nextAnswer(reference);
    const [earlier] = recognises ? this.paymentsOf(reference) : [];
    return this.#answerTo(body, kind, earlier);
  }

  async #nextAnswer(reference: string): Promise<AnswerKind> {
    const hold = this.#holds.get(reference);
    if (hold === undefined) return this.#answers.get(reference)?.shift() ?? 'created';
    this.#holds.delete(reference);
    hold.received.open();
    return hold.answer.promise;
  }

  #answerTo(body: CreatePaymentInput, kind: AnswerKind, earlier: string | undefined): Response {
    if (typeof kind === 'number') return Response.json({ code: 'REFUSED' }, { status: kind });
    if (kind === 'refused') throw noConnection();
    const { merchantPaymentReference: reference } = body;
    const referenceNumber = earlier ?? randomUUID();
    if (earlier === undefined) this.#created.push({ reference, referenceNumber });
    if (kind === 'answer-lost') throw new TypeError('fetch failed');
    if (kind === 'body-lost') return new Response(brokenStream(), { status: 201 });
    return Response.json(recordOf(reference, { referenceNumber, status: 'pending' }), {
      status: 201,
    });
  }
}

function noConnection(): Error {
  const fields = { code: 'ECONNREFUSED', syscall: 'connect', address: '127.0.0.1', port: PORT };
  return Object.assign(new Error('connect ECONNREFUSED'), fields);
}

function brokenStream(): ReadableStream {
  return new ReadableStream({
    pull: (controller) => controller.error(new Error('the body broke off')),
  });
}
