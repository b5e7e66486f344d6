import type { ServiceResponse } from '../errors.js';
import { shownReference } from '../protocol/log-context.js';
import type { CallTrace } from './observation.js';
import type { ResolvedClientOptions, ResolvedRequestOptions } from './options.js';
import type { RequestDraft, RequestFactory } from './prepared-request.js';

/** What all calls of a client share. */
export interface Settings {
  readonly options: ResolvedClientOptions;
  readonly requests: RequestFactory;
}

/** A call whose input and options are valid. */
export interface Call {
  readonly operation: CallTrace['operation'];
  readonly settings: Settings;
  readonly draft: RequestDraft;
  readonly options: ResolvedRequestOptions;
  /** Of `payments.create`. */
  readonly merchantPaymentReference: string | undefined;
}

/** The service's answer, and the same with what a `responseSchema` has made of its body. */
export interface Received {
  readonly answer: ServiceResponse;
  readonly response: ServiceResponse;
}

export function toCallTrace({ operation, settings, draft, options, ...call }: Call): CallTrace {
  const { method, origin, path } = draft;
  const { server, logReferences } = settings.options;
  const { logContext } = options;
  return {
    operation,
    method,
    path,
    url: origin + path,
    ...server,
    ...shownReference(logReferences, call.merchantPaymentReference),
    ...(logContext !== undefined && { context: logContext }),
    attempts: 0,
  };
}
