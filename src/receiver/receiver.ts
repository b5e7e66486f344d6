import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import type { VerificationPolicy, VerifiedCallback } from '../callback/options.js';
import { assertSchemaAccepts, runRecordSchema } from '../callback/record.js';
import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import type { InboxEvent, InboxOutcome } from '../inbox/inbox.js';
import { parseInstant } from '../protocol/instant.js';
import { assertBodySize, type BodyLimits, UnreadableBody } from './body.js';
import { type CallbackTrace, observe } from './observation.js';
import {
  type Awaitable,
  type ReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';
import { PaymentWork } from './payment-work.js';
import { acknowledge, askToComeAgain, type CallbackReply, fail, reject } from './reply.js';
import { report } from './report.js';
import { type CreateVerifier, createVerifierSource, type Verifier } from './verifier-source.js';

/** A request as an adapter has it. */
export interface IncomingCallback {
  readonly method: string;
  readonly headers: CallbackHeaders;
  /** Called once, and only for a request whose body is wanted. */
  readBody(limits: BodyLimits): Awaitable<RawBody>;
  /** A signal that aborts when the client goes away. Called when somebody wants to know. */
  getSignal?(): AbortSignal | undefined;
}

interface Receiver<Tx> extends ResolvedReceiverOptions<Tx> {
  readonly getVerifier: () => Awaitable<Verifier>;
}

/**
 * Makes the function that every adapter calls: request in, reply out. It never rejects.
 *
 * @throws {InvalidOptionError} when an option can't be right
 */
export function createReceiver<Tx, Secret>(
  options: ReceiverOptions<Tx, Secret>,
  createVerifier: (
    options: VerificationPolicy & { signingSecret: Secret | readonly Secret[] },
  ) => Verifier,
): (incoming: IncomingCallback) => Promise<CallbackReply> {
  const resolved = resolveReceiverOptions(options);
  // Without the schema: the receiver runs it, and can wait for one that is asynchronous.
  const create: CreateVerifier<Secret> = (signingSecret) =>
    createVerifier({ ...resolved.policy, signingSecret });
  const receiver: Receiver<Tx> = {
    ...resolved,
    getVerifier: createVerifierSource(options, create),
  };
  return (incoming) => observe(incoming.method, (trace) => receive(receiver, incoming, trace));
}

async function receive<Tx>(
  receiver: Receiver<Tx>,
  incoming: IncomingCallback,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  if (incoming.method !== 'POST') return reject(405);
  let callback: VerifiedCallback | undefined;
  try {
    const verified = await verify(receiver, incoming);
    const event = toInboxEvent(verified, receiver.processStale);
    // After the event is made: the schema is handed the record and could write to it.
    if (receiver.recordSchema !== undefined) {
      assertSchemaAccepts(await runRecordSchema(receiver.recordSchema, verified.payment));
    }
    callback = verified;
    if (trace !== undefined) trace.key = verified.key;
    const work = new PaymentWork(receiver, verified, () => incoming.getSignal?.());
    const processing = receiver.inbox.process(event, (context) => work.run(context));
    return toReply(await work.inTime(processing));
  } catch (error) {
    if (trace !== undefined) describeError(trace, error);
    const reply = callback === undefined ? refuse(error) : fail();
    if (reply.status === 401) tellRejected(receiver, error as CallbackVerificationError);
    if (reply.status === 500 || reply.status === 422) {
      await report(receiver.onError, error, callback);
    }
    return reply;
  }
}

function describeError(trace: CallbackTrace, error: unknown): void {
  if (error instanceof MerchantPaymentsError) trace.code = error.code;
  if (!(error instanceof CallbackVerificationError)) return;
  if (error.skewSeconds !== undefined) trace.skewSeconds = error.skewSeconds;
}

function tellRejected<Tx>({ onRejected }: Receiver<Tx>, error: CallbackVerificationError): void {
  try {
    onRejected(error);
  } catch {}
}

async function verify<Tx>(
  receiver: Receiver<Tx>,
  incoming: IncomingCallback,
): Promise<VerifiedCallback> {
  const rawBody = await incoming.readBody(receiver);
  assertBodySize(rawBody, receiver.maxBodyBytes);
  const verifier = await receiver.getVerifier();
  return verifier({ rawBody, headers: incoming.headers });
}

function toInboxEvent({ payment, key }: VerifiedCallback, processStale: boolean): InboxEvent {
  const { referenceNumber, updatedAt } = payment;
  const { occurredAt, microseconds } = parseInstant(updatedAt);
  return { key, paymentReference: referenceNumber, occurredAt, microseconds, processStale };
}

function toReply(outcome: InboxOutcome): CallbackReply {
  if (outcome === 'busy') return askToComeAgain();
  if (outcome === 'processed' || outcome === 'duplicate' || outcome === 'stale') {
    return acknowledge(outcome);
  }
  // An inbox of the merchant's own: what it did not say is not taken for done.
  throw new TypeError(
    `inbox.process must resolve with 'processed', 'duplicate', 'stale' or 'busy', but ${typeof outcome} came`,
  );
}

function refuse(error: unknown): CallbackReply {
  if (error instanceof UnreadableBody) return reject(error.status);
  if (!(error instanceof CallbackVerificationError) || error.code === 'RAW_BODY_REQUIRED') {
    return fail();
  }
  return reject(error.code === 'INVALID_RECORD' ? 422 : 401);
}
