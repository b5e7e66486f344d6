import { CallbackVerificationError } from '../errors.js';
import { type BodyLimits, explainUnreadable, UnreadableBody } from './body.js';
import { type CallbackTrace, describeError } from './observation.js';
import type { ResolvedReceiverOptions } from './options.js';
import { type CallbackReply, fail, reject } from './reply.js';
import { report } from './report.js';

type RefusalOptions = BodyLimits & Pick<ResolvedReceiverOptions<never>, 'onError' | 'onRejected'>;

/** Replies to a request that is no callback to process, and reports why. */
export async function answerRefusal(
  options: RefusalOptions,
  thrown: unknown,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const isUnreadable = thrown instanceof UnreadableBody;
  const error = isUnreadable ? explainUnreadable(thrown, options) : thrown;
  describeError(trace, error);
  const reply = toRefusal(thrown);
  if (isUnreadable || reply.status === 401) {
    reportRejected(options, error as CallbackVerificationError);
  }
  if (reply.status === 500 || reply.status === 422) {
    await report(options.onError, error, undefined);
  }
  return reply;
}

function reportRejected({ onRejected }: RefusalOptions, error: CallbackVerificationError): void {
  try {
    // An asynchronous one that rejects must not end the process: anyone could cause that.
    Promise.resolve(onRejected(error)).catch(() => undefined);
  } catch {}
}

function toRefusal(error: unknown): CallbackReply {
  if (error instanceof UnreadableBody) return reject(error.status);
  if (!(error instanceof CallbackVerificationError) || error.code === 'RAW_BODY_REQUIRED') {
    return fail();
  }
  return reject(error.code === 'INVALID_RECORD' ? 422 : 401);
}
