import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import type { VerificationPolicy, VerifiedCallback } from '../callback/options.js';
import { assertSchemaAccepts, runRecordSchema } from '../callback/record.js';
import { CallbackVerificationError } from '../errors.js';
import type { InboxEvent } from '../inbox/inbox.js';
import { parseInstant } from '../protocol/instant.js';
import { Activity } from './activity.js';
import { assertBodySize, type BodyLimits, UnreadableBody } from './body.js';
import { type CallbackTrace, describeError, observe } from './observation.js';
import {
  type Awaitable,
  type ReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';
import type { Caller } from './payment-work.js';
import { type AcceptedCallback, type ProcessingOptions, processOnce } from './process-once.js';
import { type CallbackReply, fail, reject } from './reply.js';
import { report } from './report.js';
import { createStaleReport } from './stale-report.js';
import { type CreateVerifier, createVerifierSource, type Verifier } from './verifier-source.js';

/** A request as an adapter has it. */
export interface IncomingCallback extends Caller {
  readonly method: string;
  readonly headers: CallbackHeaders;
  /** Called once, and only for a request whose body is wanted. */
  readBody(limits: BodyLimits): Awaitable<RawBody>;
}

/** What every adapter calls. */
export interface ReceivingEnd {
  /** Request in, reply out. It never rejects. */
  receive(incoming: IncomingCallback): Promise<CallbackReply>;
  /** Resolves as soon as nothing is under way, work that outlived its time limit included. */
  idle(): Promise<void>;
  /** As `idle`, for `onPaymentTimeoutMs` at most: what runs longer ignores its signal. */
  close(): Promise<void>;
}

interface Receiver<Tx> extends ResolvedReceiverOptions<Tx>, ProcessingOptions<Tx> {
  readonly getVerifier: () => Awaitable<Verifier>;
}

/**
 * @param adapterOptions - names of options that an adapter has besides
 * @throws {InvalidOptionError} when an option is invalid
 */
export function createReceiver<Tx, Secret, Fields>(
  options: ReceiverOptions<Tx, Secret, Fields>,
  createVerifier: (
    options: VerificationPolicy & { signingSecret: Secret | readonly Secret[] },
  ) => Verifier,
  adapterOptions: Readonly<Record<string, true>> = {},
): ReceivingEnd {
  const resolved = resolveReceiverOptions(options, adapterOptions);
  const activity = new Activity();
  // Without the schema: the receiver runs it, and can wait for one that is asynchronous.
  const create: CreateVerifier<Secret> = (signingSecret) =>
    createVerifier({ ...resolved.policy, signingSecret });
  const receiver: Receiver<Tx> = {
    ...resolved,
    getVerifier: createVerifierSource(options, create),
    activity,
    reportStale: createStaleReport(resolved.onError),
  };
  return {
    receive: (incoming) => observe(incoming.method, (trace) => receive(receiver, incoming, trace)),
    idle: () => activity.idle(),
    close: () => activity.idleWithin(resolved.onPaymentTimeoutMs),
  };
}

async function receive<Tx>(
  receiver: Receiver<Tx>,
  incoming: IncomingCallback,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  if (incoming.method !== 'POST') return reject(405);
  receiver.activity.begin();
  try {
    const accepted = await accept(receiver, incoming);
    if (trace !== undefined) trace.key = accepted.callback.key;
    return await processOnce(receiver, accepted, incoming, trace);
  } catch (error) {
    describeError(trace, error);
    const reply = refuse(error);
    if (reply.status === 401) tellRejected(receiver, error as CallbackVerificationError);
    if (reply.status === 500 || reply.status === 422) {
      await report(receiver.onError, error, undefined);
    }
    return reply;
  } finally {
    receiver.activity.end();
  }
}

async function accept<Tx>(
  receiver: Receiver<Tx>,
  incoming: IncomingCallback,
): Promise<AcceptedCallback> {
  const callback = await verify(receiver, incoming);
  const event = toInboxEvent(callback, receiver.processStale);
  // After the event is made: the schema is handed the record and could write to it.
  if (receiver.recordSchema !== undefined) {
    assertSchemaAccepts(await runRecordSchema(receiver.recordSchema, callback.payment));
  }
  return { callback, event };
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

function refuse(error: unknown): CallbackReply {
  if (error instanceof UnreadableBody) return reject(error.status);
  if (!(error instanceof CallbackVerificationError) || error.code === 'RAW_BODY_REQUIRED') {
    return fail();
  }
  return reject(error.code === 'INVALID_RECORD' ? 422 : 401);
}
