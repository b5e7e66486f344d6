import type * as DiagnosticsChannel from 'node:diagnostics_channel';
import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import { hasSubscribers } from '../protocol/tracing.js';
import type { CallbackOutcome, CallbackReply } from './reply.js';

/**
 * What subscribers of the tracing channel `merchant-payments:callback` get for one callback, in full: no
 * secret, no header, and of the body only the change's `key`, which can show its referenceNumber and
 * status.
 */
export interface CallbackTrace {
  /** The request's method. */
  readonly method: string;
  /** HTTP status of the reply. */
  status?: number;
  /** What became of the request. */
  outcome?: CallbackOutcome;
  /** The `code` of the error behind a reply that is not 200, or of a parked change's, when it is one of this package. */
  code?: string;
  /** With `TIMESTAMP_OUTSIDE_WINDOW`: how far X-Timestamp lies behind the clock, in seconds. */
  skewSeconds?: number;
  /** The key of the status change, once the callback is verified. */
  key?: string;
  /** From the request's arrival at the receiver to the reply, in milliseconds. */
  durationMs?: number;
}

interface ProcessLike {
  getBuiltinModule?(name: 'node:diagnostics_channel'): typeof DiagnosticsChannel | undefined;
}

// Not imported: some runtimes of the fetch adapter have no Node modules.
const { process } = globalThis as { process?: ProcessLike };
const channel = process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<unknown, CallbackTrace>('merchant-payments:callback');

/** Runs one callback and publishes it to subscribers. */
export function observe(
  method: string,
  run: (trace: CallbackTrace | undefined) => Promise<CallbackReply>,
): Promise<CallbackReply> {
  if (channel === undefined || !hasSubscribers(channel)) return run(undefined);
  const trace: CallbackTrace = { method };
  const startedAtMs = performance.now();
  return channel.tracePromise(async () => {
    const reply = await run(trace);
    trace.status = reply.status;
    trace.outcome = reply.outcome;
    trace.durationMs = performance.now() - startedAtMs;
    return reply;
  }, trace);
}

/** Notes on the trace why a reply is not 200. */
export function describeError(trace: CallbackTrace | undefined, error: unknown): void {
  if (trace === undefined) return;
  if (error instanceof MerchantPaymentsError) trace.code = error.code;
  if (!(error instanceof CallbackVerificationError)) return;
  if (error.skewSeconds !== undefined) trace.skewSeconds = error.skewSeconds;
}
